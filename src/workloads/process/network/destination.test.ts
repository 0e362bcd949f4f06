import { expect, it } from 'vitest';
import { AddressBook, serversOf } from './destination.ts';

const kubeconfig = (...servers: unknown[]) =>
  JSON.stringify({ clusters: servers.map((server, index) => ({ name: `${index}`, cluster: { server } })) });

it('finds the servers of a kubeconfig', () => {
  const text = kubeconfig('https://127.0.0.1:7443/clusters/ada', 'https://api.example.com', 'http://[::1]:8080');
  expect(serversOf(text)).toEqual([
    { host: '127.0.0.1', port: 7443 },
    { host: 'api.example.com', port: 443 },
    { host: '::1', port: 8080 },
  ]);
});

it.each(['', '# nothing', 'clusters: 7', 'clusters: [null, {cluster: null}]', ': [', kubeconfig(7, 'no url')])(
  'finds none in %j',
  (text) => {
    expect(serversOf(text)).toEqual([]);
  },
);

it('gives names addresses that stay, and leaves addresses as they are', () => {
  const book = new AddressBook();
  expect(['10.0.0.7', 'fd00::7', 'localhost'].map((host) => book.addressOf(host))).toEqual([
    '10.0.0.7',
    'fd00::7',
    '127.0.0.1',
  ]);
  const names = Array.from({ length: 300 }, (_, index) => `n${index}.example.com`);
  const addresses = names.map((name) => book.addressOf(name));
  expect(new Set(addresses).size).toBe(300);
  expect(addresses.slice(254, 257)).toEqual(['127.64.0.255', '127.64.1.0', '127.64.1.1']);
  expect(names.map((name) => book.addressOf(name))).toEqual(addresses);
  expect(book.hosts()).toContain('\n127.64.0.1 n0.example.com\n');
});

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { nameServers, relayDns } from './dns-relay.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

const bound = async (): Promise<{ socket: Socket; port: number }> => {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, port: socket.address().port };
};

it('reads the name servers of a machine', () => {
  expect(nameServers(['10.0.0.2', '127.0.0.53:5353', '2001:db8::1', '[2001:db8::2]:54'])).toEqual([
    { host: '10.0.0.2', port: 53 },
    { host: '127.0.0.53', port: 5353 },
    { host: '2001:db8::1', port: 53 },
    { host: '2001:db8::2', port: 54 },
  ]);
});

it('relays questions out and answers back to the client that asked', async () => {
  const server = await bound();
  const inside = await bound();
  const askers = [await bound(), await bound()];
  open.push(server.socket, ...askers.map(({ socket }) => socket));
  open.push({ close: relayDns(inside.socket, [{ host: '127.0.0.1', port: server.port }]) });
  server.socket.on('message', (question, { port, address }) => {
    server.socket.send(`answer to ${question}`, port, address);
  });
  const answers = askers.map(({ socket }) => once(socket, 'message'));
  for (const [index, { socket }] of askers.entries()) socket.send(`question ${index}`, inside.port, '127.0.0.1');
  const texts = (await Promise.all(answers)).map(([answer]) => String(answer));
  expect(texts).toEqual(['answer to question 0', 'answer to question 1']);
});

it('asks a bounded number of questions at once', async () => {
  const server = await bound();
  const inside = await bound();
  const asker = await bound();
  open.push(server.socket, asker.socket);
  open.push({ close: relayDns(inside.socket, [{ host: '127.0.0.1', port: server.port }]) });
  let heard = 0;
  const last = new Promise<void>((resolve) => {
    server.socket.on('message', () => ++heard === 32 && resolve());
  });
  for (let index = 0; index < 100; index++) asker.socket.send('?', inside.port, '127.0.0.1');
  await last;
  // What was sent after it has been heard by then, or has been dropped.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(heard).toBe(32);
});

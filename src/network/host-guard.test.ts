import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { FakeClock } from '../kube/testing/fake-clock.ts';
import { HostGuard, hostGuard } from './host-guard.ts';

const entry = (address: string, family: 'IPv4' | 'IPv6') => ({ address, family }) as never;

it.each([
  ['loopback', ['127.0.0.1', '127.9.9.9', '0.0.0.0', '::1', '::']],
  ['the link', ['169.254.169.254', '169.254.170.2', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
  ['metadata of clouds', ['168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']],
  ['mapped and compatible', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:a9fe:a9fe']],
  ['NAT64', ['64:ff9b::7f00:1', '64:ff9b::169.254.169.254', '64:ff9b:1::7f00:1', '64:ff9b:1:a9fe:a9:fe00::']],
  ['6to4, Teredo and ISATAP', ['2002:7f00:1::1', '2001:0:7f00:1::', '2001::80ff:fffe', '2001:db8::5efe:7f00:1']],
])('refuses %s', (_what, addresses) => {
  for (const address of addresses) expect(hostGuard.refuses(address), address).toBe(true);
});

it('lets other addresses pass', () => {
  const guard = new HostGuard({ interfaces: () => ({}) });
  const others = ['10.0.0.1', '192.168.1.1', '8.8.8.8', '2001:db8::1', '64:ff9b::808:808', '2002:808:808::1'];
  for (const address of [...others, 'localhost', 'fd00::1']) expect(guard.refuses(address), address).toBe(false);
});

it("refuses every address of this machine's interfaces", () => {
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  expect(own.length).toBeGreaterThan(0);
  for (const { address } of own) expect(hostGuard.refuses(address), address).toBe(true);
});

it('sees an interface that came later, in every form of its address', async () => {
  const clock = new FakeClock();
  let interfaces: ReturnType<typeof networkInterfaces> = {};
  const guard = new HostGuard({ clock, interfaces: () => interfaces });
  expect(guard.refuses('10.1.2.3')).toBe(false);
  interfaces = { vpn: [entry('10.1.2.3', 'IPv4'), entry('2001:db8:0:0:0:0:0:7', 'IPv6')] };
  await clock.advance(5000);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::a01:203', '2001:db8::7']) {
    expect(guard.refuses(address), address).toBe(true);
  }
  expect(guard.refuses('2001:db8::8')).toBe(false);
});

it('judges a name by all that it leads to, each time it is looked up', async () => {
  const answers = [['203.0.113.5'], ['203.0.113.5', '127.0.0.1']];
  const guard = new HostGuard({
    lookup: ((_name: string, _options: object, callback: (error: null, found: object[]) => void) => {
      callback(
        null,
        (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
      );
    }) as never,
  });
  const ask = () =>
    new Promise((resolve, reject) => {
      guard.lookup('rebinding.test', {}, (error, address) => (error ? reject(error) : resolve(address)));
    });
  expect(await ask()).toBe('203.0.113.5');
  await expect(ask()).rejects.toThrow("may not reach addresses of the server's own machine");
});

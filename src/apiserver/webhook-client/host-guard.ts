/**
 * Addresses only this machine can reach: itself, and what answers on its link (a cloud's metadata). Webhooks of tenants on a
 * shared server may not lead there: other people's tools trust whoever comes from this machine.
 */
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const HOST = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
] as const) {
  HOST.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['::', 127],
  ['fe80::', 10],
  ['fd00:ec2::', 32],
] as const) {
  HOST.addSubnet(net, bits, 'ipv6');
}

/** For addresses, not for names. */
export function isOfHost(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && HOST.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

export function refusedAddress(address: string): Error {
  return new Error(`dial tcp ${address}: webhooks of this cluster may not call addresses of the server's own machine`);
}

/** Names are judged by what they lead to, at the moment of the call. */
export const guardedLookup: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, '');
    const bad = found.find(({ address }) => isOfHost(address));
    if (bad) return callback(refusedAddress(bad.address), '');
    if (options.all) return callback(null, found);
    return callback(null, found[0]?.address ?? '', found[0]?.family);
  });
};

/**
 * Keeps calls that are made because of user data (webhooks, kubeconfigs in Secrets) away from the machine that makes them: its loopback and link, every
 * address of its interfaces, and the metadata services of clouds, which give credentials to any program on the machine. Programs here often trust a
 * caller because it is local. IPv6 addresses that carry an IPv4 address (mapped, NAT64, 6to4, Teredo, ISATAP) are judged by both.
 */
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Clock, systemClock } from '../clock.ts';
import { addressBytes, embeddedIPv4 } from './embedded-ipv4.ts';

const RESERVED = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  // Metadata services outside of the link: Azure, Alibaba, Oracle's first generation.
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
] as const) {
  RESERVED.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['::', 127],
  ['fe80::', 10],
  // Metadata services: AWS, Google, Scaleway.
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['fd00:42::42', 128],
] as const) {
  RESERVED.addSubnet(net, bits, 'ipv6');
}

/** Interfaces come and go (a VPN, Docker's bridges), and asking for them costs a system call for each. */
const INTERFACES_AGE_MS = 5000;

export interface HostGuardOptions {
  interfaces?: typeof networkInterfaces;
  clock?: Clock;
  lookup?: typeof lookup;
}

export class HostGuard {
  readonly #interfaces: typeof networkInterfaces;
  readonly #clock: Clock;
  readonly #lookup: typeof lookup;
  #own: { addresses: Set<string>; readAt: number } | undefined;

  constructor(options: HostGuardOptions = {}) {
    this.#interfaces = options.interfaces ?? networkInterfaces;
    this.#clock = options.clock ?? systemClock;
    this.#lookup = options.lookup ?? lookup;
  }

  /** For addresses, not for names. */
  refuses(address: string): boolean {
    const [plain = ''] = address.split('%', 1);
    const family = isIP(plain);
    if (family === 0) return false;
    if (family === 4) return RESERVED.check(plain, 'ipv4') || this.#ownAddresses().has(plain);
    const bytes = addressBytes(plain);
    if (RESERVED.check(plain, 'ipv6') || this.#ownAddresses().has(bytes.toString('hex'))) return true;
    return embeddedIPv4(bytes).some((inner) => this.refuses(inner));
  }

  /** Names are judged by what they lead to, at the moment of the call: a name that changes its address meanwhile gains nothing. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    this.#lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '');
      const bad = found.find(({ address }) => this.refuses(address));
      if (bad) return callback(refusedAddress(bad.address), '');
      if (options.all) return callback(null, found);
      return callback(null, found[0]?.address ?? '', found[0]?.family);
    });
  };

  #ownAddresses(): Set<string> {
    const now = this.#clock.now();
    if (!this.#own || now - this.#own.readAt >= INTERFACES_AGE_MS || now < this.#own.readAt) {
      const addresses = new Set<string>();
      for (const { address, family } of Object.values(this.#interfaces()).flatMap((entries) => entries ?? [])) {
        const [plain = ''] = address.split('%', 1);
        addresses.add(family === 'IPv4' ? plain : addressBytes(plain).toString('hex'));
      }
      this.#own = { addresses, readAt: now };
    }
    return this.#own.addresses;
  }
}

/** Of the machine this process runs on. */
export const hostGuard = new HostGuard();

export function refusedAddress(address: string): Error {
  return new Error(`dial tcp ${address}: this call may not reach addresses of the server's own machine`);
}

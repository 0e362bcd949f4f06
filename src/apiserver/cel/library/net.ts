/** `ip(…)` and `cidr(…)`. Addresses are held as numbers, so that containment is arithmetic. */
import { isIPv4, isIPv6 } from 'node:net';
import type { Library } from '../engine.ts';

class Ip {
  readonly bits: bigint;
  readonly family: 4 | 6;

  constructor(bits: bigint, family: 4 | 6) {
    this.bits = bits;
    this.family = family;
  }

  toString(): string {
    if (this.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (this.bits >> shift) & 255n).join('.');
    const groups = Array.from({ length: 8 }, (_, i) => ((this.bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
    // The longest run of zeros is written as `::`, as RFC 5952 says.
    const text = groups.join(':');
    const runs = text.match(/\b0(:0)+\b/g)?.sort((a, b) => b.length - a.length);
    return runs?.[0] ? text.replace(runs[0], ':').replace(/:{2,}/, '::') : text;
  }
}

class Cidr {
  readonly ip: Ip;
  readonly length: number;

  constructor(ip: Ip, length: number) {
    this.ip = ip;
    this.length = length;
  }

  get mask(): bigint {
    const size = this.ip.family === 4 ? 32 : 128;
    return ((1n << BigInt(size)) - 1n) ^ ((1n << BigInt(size - this.length)) - 1n);
  }

  contains(ip: Ip): boolean {
    return ip.family === this.ip.family && (ip.bits & this.mask) === (this.ip.bits & this.mask);
  }

  toString(): string {
    return `${this.ip}/${this.length}`;
  }
}

/** Strict: no leading zeros, no zones, no IPv4 in IPv6. */
function parseIp(text: string): Ip | undefined {
  if (isIPv4(text))
    return new Ip(
      text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n),
      4,
    );
  if (!isIPv6(text) || text.includes('%') || text.includes('.')) return undefined;
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  return new Ip(
    groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n),
    6,
  );
}

function parseCidr(text: string): Cidr | undefined {
  const [address = '', bits = '', ...rest] = text.split('/');
  const ip = parseIp(address);
  if (!ip || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(bits)) return undefined;
  return Number(bits) <= (ip.family === 4 ? 32 : 128) ? new Cidr(ip, Number(bits)) : undefined;
}

const within = (ranges: string[]) => {
  const cidrs = ranges.map((range) => parseCidr(range) as Cidr);
  return (ip: Ip) => cidrs.some((cidr) => cidr.contains(ip));
};
const isUnspecified = within(['0.0.0.0/32', '::/128']);
const isLoopback = within(['127.0.0.0/8', '::1/128']);
const isLinkLocalMulticast = within(['224.0.0.0/24', 'ff02::/16']);
const isLinkLocalUnicast = within(['169.254.0.0/16', 'fe80::/10']);
const isMulticast = within(['224.0.0.0/4', 'ff00::/8']);
const isBroadcast = within(['255.255.255.255/32']);

export function registerNet(library: Library): void {
  library.environment.registerType('net.IP', Ip as never);
  library.environment.registerType('net.CIDR', Cidr as never);
  const ip = (text: string) =>
    parseIp(text) ??
    library.fail(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    );
  const cidr = (text: string) =>
    parseCidr(text) ??
    library.fail(`network address parse error during conversion from string: ${JSON.stringify(text)}`);
  const covers = (outer: Cidr, inner: Cidr) => outer.length <= inner.length && outer.contains(inner.ip);
  library
    .add('isIP(string): bool', (text: string) => parseIp(text) !== undefined)
    .add('ip(string): net.IP', ip)
    .add('string(net.IP): string', String)
    .add('net.IP.family(): int', (value: Ip) => BigInt(value.family))
    .add('net.IP.isUnspecified(): bool', isUnspecified)
    .add('net.IP.isLoopback(): bool', isLoopback)
    .add('net.IP.isLinkLocalMulticast(): bool', isLinkLocalMulticast)
    .add('net.IP.isLinkLocalUnicast(): bool', isLinkLocalUnicast)
    .add(
      'net.IP.isGlobalUnicast(): bool',
      (value: Ip) =>
        ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast, isBroadcast].some((check) => check(value)),
    )
    .add('isCIDR(string): bool', (text: string) => parseCidr(text) !== undefined)
    .add('cidr(string): net.CIDR', cidr)
    .add('string(net.CIDR): string', String)
    .add('net.CIDR.containsIP(string): bool', (range: Cidr, text: string) => range.contains(ip(text)))
    .add('net.CIDR.containsIP(net.IP): bool', (range: Cidr, value: Ip) => range.contains(value))
    .add('net.CIDR.containsCIDR(string): bool', (range: Cidr, text: string) => covers(range, cidr(text)))
    .add('net.CIDR.containsCIDR(net.CIDR): bool', covers)
    .add('net.CIDR.ip(): net.IP', (range: Cidr) => range.ip)
    .add(
      'net.CIDR.masked(): net.CIDR',
      (range: Cidr) => new Cidr(new Ip(range.ip.bits & range.mask, range.ip.family), range.length),
    )
    .add('net.CIDR.prefixLength(): int', (range: Cidr) => BigInt(range.length));
  library.namespace('ip', { 'isCanonical(string): bool': (text: string) => String(ip(text)) === text });
  library.environment.registerOperator('net.IP == net.IP', (a: Ip, b: Ip) => String(a) === String(b));
  library.environment.registerOperator('net.CIDR == net.CIDR', (a: Cidr, b: Cidr) => String(a) === String(b));
}

/** IP addresses and prefixes, parsed and printed as Go's net/netip does, complaints included. */
export interface Address {
  bits: bigint;
  family: 4 | 6;
  zone: string;
}

export class AddressError extends Error {}

function fail(text: string, message: string, at?: string): never {
  const where = at === undefined || at === '' ? '' : ` (at ${JSON.stringify(at)})`;
  throw new AddressError(`ParseAddr(${JSON.stringify(text)}): ${message}${where}`);
}

/** Throws an AddressError. */
export function parseAddress(text: string): Address {
  for (const char of text) {
    if (char === '.') return { bits: parseIPv4(text, text), family: 4, zone: '' };
    if (char === ':') return parseIPv6(text);
    if (char === '%') fail(text, 'missing IPv6 address');
  }
  return fail(text, 'unable to parse IP');
}

function parseIPv4(whole: string, text: string): bigint {
  const fields: number[] = [];
  let value = 0;
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char >= '0' && char <= '9') {
      if (digits === 1 && value === 0) fail(whole, 'IPv4 field has octet with leading zero');
      value = value * 10 + Number(char);
      digits++;
      if (value > 255) fail(whole, 'IPv4 field has value >255');
    } else if (char === '.') {
      if (i === 0 || i === text.length - 1 || text[i - 1] === '.') {
        fail(whole, 'IPv4 field must have at least one digit', text.slice(i));
      }
      if (fields.length === 3) fail(whole, 'IPv4 address too long');
      fields.push(value);
      value = 0;
      digits = 0;
    } else fail(whole, 'unexpected character', text.slice(i));
  }
  if (fields.length < 3) fail(whole, 'IPv4 address too short');
  return [...fields, value].reduce((sum, field) => sum * 256n + BigInt(field), 0n);
}

function parseIPv6(whole: string): Address {
  const percent = whole.indexOf('%');
  const zone = percent < 0 ? '' : whole.slice(percent + 1);
  if (percent >= 0 && zone === '') fail(whole, 'zone must be a non-empty string');
  let text = percent < 0 ? whole : whole.slice(0, percent);
  const groups: bigint[] = [];
  let ellipsis = -1;
  if (text.startsWith('::')) {
    ellipsis = 0;
    text = text.slice(2);
    if (text === '') return { bits: 0n, family: 6, zone };
  }
  while (groups.length < 8) {
    const hex = /^[0-9a-fA-F]*/.exec(text)?.[0] as string;
    if (hex.length > 4) fail(whole, 'each group must have 4 or less digits', text);
    if (hex === '') fail(whole, 'each colon-separated field must have at least one digit', text);
    if (text[hex.length] === '.') {
      const problem = 'embedded IPv4 address must replace the final 2 fields of the address';
      if (ellipsis < 0 && groups.length !== 6) fail(whole, problem, text);
      if (groups.length > 6) {
        fail(whole, 'too many hex fields to fit an embedded IPv4 at the end of the address', text);
      }
      const embedded = parseIPv4(whole, text);
      groups.push(embedded >> 16n, embedded & 0xffffn);
      text = '';
      break;
    }
    groups.push(BigInt(`0x${hex}`));
    text = text.slice(hex.length);
    if (text === '') break;
    if (text[0] !== ':') fail(whole, 'unexpected character, want colon', text);
    if (text.length === 1) fail(whole, 'colon must be followed by more characters', text);
    text = text.slice(1);
    if (text[0] === ':') {
      if (ellipsis >= 0) fail(whole, 'multiple :: in address', text);
      ellipsis = groups.length;
      text = text.slice(1);
      if (text === '') break;
    }
  }
  if (text !== '') fail(whole, 'trailing garbage after address', text);
  if (groups.length < 8) {
    if (ellipsis < 0) fail(whole, 'address string too short');
    groups.splice(ellipsis, 0, ...Array<bigint>(8 - groups.length).fill(0n));
  } else if (ellipsis >= 0) fail(whole, 'the :: must expand to at least one field of zeros');
  return { bits: groups.reduce((sum, group) => sum * 65536n + group, 0n), family: 6, zone };
}

/** An IPv4 address in IPv6 clothes. */
export function isMapped({ bits, family }: Address): boolean {
  return family === 6 && bits >> 32n === 0xffffn;
}

export function formatAddress({ bits, family }: Pick<Address, 'bits' | 'family'>): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (bits >> BigInt(112 - 16 * i)) & 0xffffn);
  // The first of the longest runs of at least two zeros is left out.
  let best = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groups[i + length] === 0n) length++;
    if (length > best.length) best = { start: i, length };
  }
  const hex = (list: bigint[]) => list.map((group) => group.toString(16)).join(':');
  if (best.start < 0) return hex(groups);
  return `${hex(groups.slice(0, best.start))}::${hex(groups.slice(best.start + best.length))}`;
}

export interface Prefix {
  address: Address;
  length: number;
}

/** Throws an AddressError. */
export function parsePrefix(text: string): Prefix {
  const failed = (message: string): never => {
    throw new AddressError(`netip.ParsePrefix(${JSON.stringify(text)}): ${message}`);
  };
  const slash = text.lastIndexOf('/');
  if (slash < 0) return failed("no '/'");
  let address: Address;
  try {
    address = parseAddress(text.slice(0, slash));
  } catch (error) {
    return failed((error as Error).message);
  }
  if (address.zone !== '') return failed('IPv6 zones cannot be present in a prefix');
  const bits = text.slice(slash + 1);
  if ((bits.length > 1 && !/^[1-9]/.test(bits)) || !/^[+-]?\d+$/.test(bits)) {
    return failed(`bad bits after slash: ${JSON.stringify(bits)}`);
  }
  const length = Number(bits);
  return length > (address.family === 4 ? 32 : 128) ? failed('prefix length out of range') : { address, length };
}

export function mask({ address, length }: Prefix): bigint {
  const size = address.family === 4 ? 32n : 128n;
  return ((1n << size) - 1n) ^ ((1n << (size - BigInt(length))) - 1n);
}

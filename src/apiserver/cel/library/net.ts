/** `ip(…)` and `cidr(…)`. */
import { declare, type FunctionDeclaration, type Implementation } from '../check/declarations.ts';
import { Type } from '../check/type.ts';
import { CelError, NO_OVERLOAD, Opaque, type Value } from '../values/value.ts';
import {
  type Address,
  AddressError,
  formatAddress,
  isMapped,
  mask,
  type Prefix,
  parseAddress,
  parsePrefix,
} from './address.ts';

const fn = (run: (...args: never[]) => Value) => run as Implementation;

class Ip extends Opaque {
  readonly type = new Type('opaque', 'net.IP');
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }

  equals(other: Value): Value {
    if (!(other instanceof Ip)) return NO_OVERLOAD;
    return other.address.family === this.address.family && other.address.bits === this.address.bits;
  }

  override size(): number {
    return this.address.family === 4 ? 4 : 16;
  }

  override toString(): string {
    return formatAddress(this.address);
  }
}

class Cidr extends Opaque {
  readonly type = new Type('opaque', 'net.CIDR');
  readonly prefix: Prefix;

  constructor(prefix: Prefix) {
    super();
    this.prefix = prefix;
  }

  equals(other: Value): Value {
    return other instanceof Cidr ? String(other) === String(this) : NO_OVERLOAD;
  }

  override size(): number {
    return Math.ceil(this.prefix.length / 8);
  }

  contains(address: Address): boolean {
    const bits = mask(this.prefix);
    return address.family === this.prefix.address.family && (address.bits & bits) === (this.prefix.address.bits & bits);
  }

  override toString(): string {
    return `${formatAddress(this.prefix.address)}/${this.prefix.length}`;
  }
}

function ip(text: string): Ip | CelError {
  try {
    const address = parseAddress(text);
    if (address.zone !== '') return new CelError(`IP address ${JSON.stringify(text)} with zone value is not allowed`);
    if (isMapped(address)) return new CelError(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
    return new Ip(address);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return new CelError(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ${error.message}`,
    );
  }
}

function cidr(text: string): Cidr | CelError {
  const problem = 'network address parse error during conversion from string: ';
  try {
    const prefix = parsePrefix(text);
    if (!isMapped(prefix.address)) return new Cidr(prefix);
    return new CelError(`${problem}IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return new CelError(`${problem}${problem}${error.message}`);
  }
}

const within = (...ranges: string[]) => {
  const all = ranges.map((range) => new Cidr(parsePrefix(range)));
  return (value: Ip) => all.some((each) => each.contains(value.address));
};
const isUnspecified = within('0.0.0.0/32', '::/128');
const isLoopback = within('127.0.0.0/8', '::1/128');
const isLinkLocalMulticast = within('224.0.0.0/24', 'ff02::/16');
const isLinkLocalUnicast = within('169.254.0.0/16', 'fe80::/10');
const isNotGlobal = within(
  '0.0.0.0/32',
  '255.255.255.255/32',
  '::/128',
  '127.0.0.0/8',
  '::1/128',
  '224.0.0.0/4',
  'ff00::/8',
  '169.254.0.0/16',
  'fe80::/10',
);

function containsIp(range: Cidr, value: Value): Value {
  return value instanceof Ip ? range.contains(value.address) : NO_OVERLOAD;
}

function containsCidr(range: Cidr, other: Value): Value {
  if (!(other instanceof Cidr)) return other instanceof CelError ? other : NO_OVERLOAD;
  return range.prefix.length <= other.prefix.length && range.contains(other.prefix.address);
}

function masked({ prefix }: Cidr): Value {
  return new Cidr({ ...prefix, address: { ...prefix.address, bits: prefix.address.bits & mask(prefix) } });
}

const IP = '!net.IP';
const CIDR = '!net.CIDR';

export const NET: FunctionDeclaration[] = [
  declare('ip', {
    string_to_ip: [`(string) ${IP}`, fn(ip)],
    cidr_ip: [`${CIDR}.() ${IP}`, fn((range: Cidr) => new Ip(range.prefix.address))],
  }),
  declare('family', { ip_family: [`${IP}.() int`, fn((value: Ip) => BigInt(value.address.family))] }),
  declare('ip.isCanonical', {
    ip_is_canonical: [
      '(string) bool',
      fn((text: string) => {
        const value = ip(text);
        return value instanceof CelError ? value : String(value) === text;
      }),
    ],
  }),
  declare('isUnspecified', { ip_is_unspecified: [`${IP}.() bool`, fn(isUnspecified)] }),
  declare('isLoopback', { ip_is_loopback: [`${IP}.() bool`, fn(isLoopback)] }),
  declare('isLinkLocalMulticast', { ip_is_link_local_multicast: [`${IP}.() bool`, fn(isLinkLocalMulticast)] }),
  declare('isLinkLocalUnicast', { ip_is_link_local_unicast: [`${IP}.() bool`, fn(isLinkLocalUnicast)] }),
  declare('isGlobalUnicast', { ip_is_global_unicast: [`${IP}.() bool`, fn((value: Ip) => !isNotGlobal(value))] }),
  declare('isIP', { is_ip: ['(string) bool', fn((text: string) => !(ip(text) instanceof CelError))] }),
  declare('string', {
    ip_to_string: [`(${IP}) string`, fn((value: Ip) => String(value))],
    cidr_to_string: [`(${CIDR}) string`, fn((value: Cidr) => String(value))],
  }),
  declare('cidr', { string_to_cidr: [`(string) ${CIDR}`, fn(cidr)] }),
  declare('containsIP', {
    cidr_contains_ip_string: [`${CIDR}.(string) bool`, fn((range: Cidr, text: string) => containsIp(range, ip(text)))],
    cidr_contains_ip_ip: [`${CIDR}.(${IP}) bool`, fn(containsIp)],
  }),
  declare('containsCIDR', {
    cidr_contains_cidr_string: [
      `${CIDR}.(string) bool`,
      fn((range: Cidr, text: string) => containsCidr(range, cidr(text))),
    ],
    cidr_contains_cidr: [`${CIDR}.(${CIDR}) bool`, fn(containsCidr)],
  }),
  declare('prefixLength', { cidr_prefix_length: [`${CIDR}.() int`, fn((range: Cidr) => BigInt(range.prefix.length))] }),
  declare('masked', { cidr_masked: [`${CIDR}.() ${CIDR}`, fn(masked)] }),
  declare('isCIDR', { is_cidr: ['(string) bool', fn((text: string) => !(cidr(text) instanceof CelError))] }),
];

/** Kubernetes' own values: URLs, quantities, versions, named formats. */
import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../builtins/names.ts';
import { parseQuantity, type Quantity, QuantityError } from '../../builtins/quantity.ts';
import { formatCheck } from '../../schema/formats.ts';
import { declare, type FunctionDeclaration, type Implementation } from '../check/declarations.ts';
import { struct } from '../check/type.ts';
import { CelError, Entries, Items, NO_OVERLOAD, NONE, Opaque, Optional, type Value } from '../values/value.ts';
import { escapedPath, type GoUrl, hostAndPort, parseUrl, queryValues, urlText } from './go-url.ts';
import { compareVersions, parseVersion, type Version } from './semver.ts';

const fn = (run: (...args: never[]) => Value) => run as Implementation;

class Url extends Opaque {
  readonly type = struct('kubernetes.URL');
  readonly url: GoUrl;

  constructor(url: GoUrl) {
    super();
    this.url = url;
  }

  equals(other: Value): Value {
    return other instanceof Url ? urlText(other.url) === urlText(this.url) : NO_OVERLOAD;
  }
}

function url(text: string): Url | CelError {
  for (const request of [true, false]) {
    try {
      parseUrl(text, request);
    } catch (error) {
      const reason = `parse ${JSON.stringify(text)}: ${(error as Error).message}`;
      return new CelError(`URL parse error during conversion from string: ${reason}`);
    }
  }
  return new Url(parseUrl(text, false));
}

function isUrl(text: string): boolean {
  try {
    parseUrl(text, true);
    return true;
  } catch {
    return false;
  }
}

function query({ url: { query: text } }: Url): Value {
  return Entries.of([...queryValues(text)].map(([key, values]) => [key, new Items(values)] as const));
}

const NANO = 1_000_000_000n;

class CelQuantity extends Opaque {
  readonly type = struct('kubernetes.Quantity');
  readonly quantity: Quantity;
  /** Go keeps `1.5Gi` as a decimal, and does not call that an integer, whatever its value. */
  readonly decimal: boolean;
  /** Sums are pointers upstream, and nothing is equal to a pointer. */
  readonly sum: boolean;

  constructor(quantity: Quantity, decimal: boolean, sum = false) {
    super();
    this.quantity = quantity;
    this.decimal = decimal;
    this.sum = sum;
  }

  get nano(): bigint {
    return this.quantity.nano;
  }

  equals(other: Value): Value {
    return other instanceof CelQuantity && !other.sum ? other.nano === this.nano : NO_OVERLOAD;
  }

  get integer(): bigint | undefined {
    const whole = this.nano / NANO;
    return this.decimal || this.nano % NANO !== 0n || BigInt.asIntN(64, whole) !== whole ? undefined : whole;
  }
}

function quantity(text: string): CelQuantity | CelError {
  try {
    return new CelQuantity(parseQuantity(text), /\..*i$/.test(text));
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return new CelError(error.message);
  }
}

function summed(a: CelQuantity, nano: bigint, decimal: boolean): Value {
  const format = a.nano === 0n ? 'DecimalSI' : a.quantity.format;
  return new CelQuantity({ nano: a.nano + nano, format }, a.decimal || decimal, true);
}

const order = (a: bigint, b: bigint) => (a < b ? -1n : a > b ? 1n : 0n);

class CelSemver extends Opaque {
  readonly type = struct('kubernetes.Semver');
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  equals(other: Value): Value {
    return other instanceof CelSemver ? compareVersions(this.version, other.version) === 0 : NO_OVERLOAD;
  }
}

function semver(text: string, normalize = false): Value {
  const version = parseVersion(text, normalize);
  return typeof version === 'string' ? new CelError(version) : new CelSemver(version);
}

const isSemver = (text: string, normalize = false) => typeof parseVersion(text, normalize) !== 'string';
const ordered = (test: (order: number) => Value) =>
  fn((a: CelSemver, b: CelSemver) => test(compareVersions(a.version, b.version)));

class NamedFormat extends Opaque {
  readonly type = struct('kubernetes.NamedFormat');
  readonly name: string;
  /** Length of the pattern behind it, which is what checking is priced by. */
  readonly patternSize: number;
  readonly check: (text: string) => string[];

  constructor(name: string, patternSize: number, check: (text: string) => string[]) {
    super();
    this.name = name;
    this.patternSize = patternSize;
    this.check = check;
  }

  equals(other: Value): Value {
    return other instanceof NamedFormat ? other.name === this.name : NO_OVERLOAD;
  }
}

/** For the cost of `validate`. */
export function patternSizeOf(value: Value): number | undefined {
  return value instanceof NamedFormat ? value.patternSize : undefined;
}

/** A prefix may end in a dash: something will follow it. */
const asPrefix = (check: (text: string) => string[]) => (text: string) =>
  check(text.replace(/.-$/s, (end) => `${end[0]}a`));
const known = (format: string, problem: string) => (text: string) => (formatCheck(format)?.(text) ? [] : [problem]);

function uriProblems(text: string): string[] {
  try {
    parseUrl(text, true);
    return [];
  } catch (error) {
    return [`parse ${JSON.stringify(text)}: ${(error as Error).message}`];
  }
}

const FORMATS = new Map(
  [
    new NamedFormat('dns1123Label', 30, dns1123Label),
    new NamedFormat('dns1123Subdomain', 60, dns1123Subdomain),
    new NamedFormat('dns1035Label', 30, dns1035Label),
    new NamedFormat('qualifiedName', 60, qualifiedName),
    new NamedFormat('dns1123LabelPrefix', 30, asPrefix(dns1123Label)),
    new NamedFormat('dns1123SubdomainPrefix', 60, asPrefix(dns1123Subdomain)),
    new NamedFormat('dns1035LabelPrefix', 30, asPrefix(dns1035Label)),
    new NamedFormat('labelValue', 40, labelValue),
    new NamedFormat('uri', 1103, uriProblems),
    new NamedFormat('uuid', 111, known('uuid', 'does not match the UUID format')),
    new NamedFormat('byte', 84, known('byte', 'invalid base64')),
    new NamedFormat('date', 123, known('date', 'invalid date')),
    new NamedFormat('datetime', 123, known('datetime', 'invalid datetime')),
  ].map((format) => [format.name, format]),
);

const URL_TYPE = 'kubernetes.URL';
const Q = 'kubernetes.Quantity';
const V = 'kubernetes.Semver';
const F = 'kubernetes.NamedFormat';

export const KUBERNETES: FunctionDeclaration[] = [
  declare('url', { string_to_url: [`(string) ${URL_TYPE}`, fn(url)] }),
  declare('isURL', { is_url_string: ['(string) bool', fn(isUrl)] }),
  declare('getScheme', { url_get_scheme: [`${URL_TYPE}.() string`, fn((u: Url) => u.url.scheme)] }),
  declare('getHost', { url_get_host: [`${URL_TYPE}.() string`, fn((u: Url) => u.url.host)] }),
  declare('getHostname', { url_get_hostname: [`${URL_TYPE}.() string`, fn((u: Url) => hostAndPort(u.url)[0])] }),
  declare('getPort', { url_get_port: [`${URL_TYPE}.() string`, fn((u: Url) => hostAndPort(u.url)[1])] }),
  declare('getEscapedPath', { url_get_escaped_path: [`${URL_TYPE}.() string`, fn((u: Url) => escapedPath(u.url))] }),
  declare('getQuery', { url_get_query: [`${URL_TYPE}.() map(string, list(string))`, fn(query)] }),
  declare('quantity', { string_to_quantity: [`(string) ${Q}`, fn(quantity)] }),
  declare('isQuantity', {
    is_quantity_string: ['(string) bool', fn((text: string) => !(quantity(text) instanceof CelError))],
  }),
  declare('sign', { quantity_sign: [`(${Q}) int`, fn((q: CelQuantity) => order(q.nano, 0n))] }),
  declare('asApproximateFloat', {
    quantity_get_float: [`${Q}.() double`, fn((q: CelQuantity) => Number(q.nano) / 1e9)],
  }),
  declare('asInteger', {
    quantity_get_int: [
      `${Q}.() int`,
      fn((q: CelQuantity) => q.integer ?? new CelError('cannot convert value to integer')),
    ],
  }),
  declare('isInteger', { quantity_is_integer: [`${Q}.() bool`, fn((q: CelQuantity) => q.integer !== undefined)] }),
  declare('add', {
    quantity_add: [`${Q}.(${Q}) ${Q}`, fn((a: CelQuantity, b: CelQuantity) => summed(a, b.nano, b.decimal))],
    quantity_add_int: [`${Q}.(int) ${Q}`, fn((a: CelQuantity, b: bigint) => summed(a, b * NANO, false))],
  }),
  declare('sub', {
    quantity_sub: [`${Q}.(${Q}) ${Q}`, fn((a: CelQuantity, b: CelQuantity) => summed(a, -b.nano, b.decimal))],
    quantity_sub_int: [`${Q}.(int) ${Q}`, fn((a: CelQuantity, b: bigint) => summed(a, -b * NANO, false))],
  }),
  declare('isGreaterThan', {
    quantity_is_greater_than: [`${Q}.(${Q}) bool`, fn((a: CelQuantity, b: CelQuantity) => a.nano > b.nano)],
    semver_is_greater_than: [`${V}.(${V}) bool`, ordered((each) => each > 0)],
  }),
  declare('isLessThan', {
    quantity_is_less_than: [`${Q}.(${Q}) bool`, fn((a: CelQuantity, b: CelQuantity) => a.nano < b.nano)],
    semver_is_less_than: [`${V}.(${V}) bool`, ordered((each) => each < 0)],
  }),
  declare('compareTo', {
    quantity_compare_to: [`${Q}.(${Q}) int`, fn((a: CelQuantity, b: CelQuantity) => order(a.nano, b.nano))],
    semver_compare_to: [`${V}.(${V}) int`, ordered((each) => BigInt(each))],
  }),
  declare('semver', {
    string_to_semver: [`(string) ${V}`, fn((text: string) => semver(text))],
    string_bool_to_semver: [`(string, bool) ${V}`, fn(semver)],
  }),
  declare('isSemver', {
    is_semver_string: ['(string) bool', fn((text: string) => isSemver(text))],
    is_semver_string_bool: ['(string, bool) bool', fn(isSemver)],
  }),
  declare('major', { semver_major: [`${V}.() int`, fn((v: CelSemver) => BigInt.asIntN(64, v.version.numbers[0]))] }),
  declare('minor', { semver_minor: [`${V}.() int`, fn((v: CelSemver) => BigInt.asIntN(64, v.version.numbers[1]))] }),
  declare('patch', { semver_patch: [`${V}.() int`, fn((v: CelSemver) => BigInt.asIntN(64, v.version.numbers[2]))] }),
  declare('validate', {
    'format-validate': [
      `${F}.(string) optional(list(string))`,
      fn((format: NamedFormat, text: string) => {
        const problems = format.check(text);
        return problems.length === 0 ? NONE : new Optional(new Items(problems));
      }),
    ],
  }),
  declare('format.named', {
    'format-named': [
      `(string) optional(${F})`,
      fn((name: string) => {
        const format = FORMATS.get(name);
        return format ? new Optional(format) : NONE;
      }),
    ],
  }),
  ...[...FORMATS].map(([name, format]) =>
    declare(`format.${name}`, { [`format.${name}`]: [`() ${F}`, fn(() => format)] }),
  ),
];

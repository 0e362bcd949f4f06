/**
 * Kubernetes quantities (`500m`, `1.5Gi`, `1e3`): exact values in billionths, and the canonical text Go writes.
 * The smallest step is one billionth; anything finer is rounded away from zero, as upstream does.
 */

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  /** The value times 10^9. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
  /** The text it was parsed from, where upstream keeps that instead of making a canonical one. */
  readonly text?: string;
}

const NANO = 1_000_000_000n;
const MAX_INT64 = 9223372036854775807n;

const FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_ERROR = "unable to parse quantity's suffix";
const NUMERIC_ERROR = 'unable to parse numeric part of quantity';

export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL_SUFFIX: Record<number, string> = Object.fromEntries(Object.entries(DECIMAL).map(([s, e]) => [e, s]));
const BINARY_SUFFIX = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;

/** Digits an exponent may have: beyond this a value is absurd, and computing it would eat memory. */
const MAX_EXPONENT = 400;

function interpret(suffix: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  if (suffix in DECIMAL) return { base: 10, exponent: DECIMAL[suffix] as number, format: 'DecimalSI' };
  if (suffix in BINARY) return { base: 2, exponent: BINARY[suffix] as number, format: 'BinarySI' };
  const exponent = /^[eE]([-+]?[0-9]+)$/.exec(suffix);
  if (!exponent || Math.abs(Number(exponent[1])) > MAX_EXPONENT) throw new QuantityError(SUFFIX_ERROR);
  return { base: 10, exponent: Number(exponent[1]), format: 'DecimalExponent' };
}

function divideAwayFromZero(value: bigint, by: bigint): bigint {
  return value % by === 0n ? value / by : value / by + 1n;
}

export function parseQuantity(input: string | number): Quantity {
  const text = String(input);
  if (text === '') throw new QuantityError(FORMAT_ERROR);
  if (text === '0') return { nano: 0n, format: 'DecimalSI' };
  const match = SHAPE.exec(text);
  if (!match) throw new QuantityError(FORMAT_ERROR);
  const [, sign = '', rawWhole = '', fraction = '', suffix = ''] = match;
  const whole = rawWhole.replace(/^0+/, '');
  const { base, exponent, format: parsedFormat } = interpret(suffix);
  // Upstream reads no digits at all as zero, unless the exponent keeps it from its fast path.
  if (rawWhole === '' && fraction === '' && exponent < -9) throw new QuantityError(NUMERIC_ERROR);
  let format = parsedFormat;
  const digits = BigInt(`${whole}${fraction}` || '0');
  const power = (base === 10 ? exponent : 0) - fraction.length + 9;
  let nano = base === 2 ? digits << BigInt(exponent) : digits;
  nano = power >= 0 ? nano * 10n ** BigInt(power) : divideAwayFromZero(nano, 10n ** BigInt(-power));
  if (format === 'BinarySI') {
    if (nano > MAX_INT64 * NANO) nano = MAX_INT64 * NANO;
    if (nano > 0n && nano < NANO) format = 'DecimalSI';
  }
  const kept = keepsText(digits, whole || '0', fraction, base, exponent);
  return { nano: sign === '-' ? -nano : nano, format, ...(kept ? { text } : {}) };
}

/** Upstream's fast path keeps the text of numbers it takes for canonical already. */
function keepsText(digits: bigint, whole: string, fraction: string, base: 2 | 10, exponent: number): boolean {
  if (base === 2) {
    const precise = fraction === '' && 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
    return precise && (digits & 7n) !== 0n;
  }
  const shifted = `${whole}${fraction}`;
  const scale = exponent - fraction.length;
  if (18 - shifted.length < 0 || scale < -9) return false;
  return scale % 3 === 0 && !shifted.endsWith('000') && shifted[0] !== '0';
}

export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  const { nano } = quantity;
  if (nano === 0n) return '0';
  const absolute = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? '-' : '';
  const binary = quantity.format === 'BinarySI' && absolute >= 1024n * NANO && nano % NANO === 0n;
  if (binary) {
    let value = absolute / NANO;
    let steps = 0;
    while (value % 1024n === 0n && steps < BINARY_SUFFIX.length - 1) {
      value /= 1024n;
      steps++;
    }
    return `${sign}${value}${BINARY_SUFFIX[steps]}`;
  }
  let value = absolute;
  let exponent = -9;
  const highest = quantity.format === 'DecimalExponent' ? MAX_EXPONENT : 18;
  while (value % 1000n === 0n && exponent < highest) {
    value /= 1000n;
    exponent += 3;
  }
  if (quantity.format === 'DecimalExponent') return `${sign}${value}${exponent === 0 ? '' : `e${exponent}`}`;
  return `${sign}${value}${DECIMAL_SUFFIX[exponent] ?? ''}`;
}

/** The text Go would write for it; throws QuantityError. */
export function canonicalQuantity(input: string | number): string {
  return formatQuantity(parseQuantity(input));
}

export function compareQuantity(a: Quantity, b: Quantity): number {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}

/** Sums and differences take the format of the first operand, or of the second where the first is zero. */
export function addQuantity(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format };
}

export function subQuantity(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano - b.nano, format: a.nano === 0n ? b.format : a.format };
}

export function wholeQuantity(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { nano: BigInt(value) * NANO, format };
}

/** Rounds away from zero to thousandths: resource lists know nothing finer. */
export function roundUpToMilli(quantity: Quantity): Quantity {
  const step = 1_000_000n;
  const rest = quantity.nano % step;
  if (rest === 0n) return quantity;
  const nano = quantity.nano - rest + (quantity.nano > 0n ? step : -step);
  return { nano, format: quantity.format };
}

export const ZERO: Quantity = { nano: 0n, format: 'DecimalSI' };

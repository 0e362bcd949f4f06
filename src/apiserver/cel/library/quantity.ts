/** `quantity("1.5Gi")` and its arithmetic, on the server's own exact quantities. */
import { formatQuantity, parseQuantity, type Quantity } from '../../builtins/quantity.ts';
import type { Library } from '../engine.ts';

const NANO = 1_000_000_000n;

class CelQuantity {
  readonly value: Quantity;
  /** Go keeps `1.5Gi` as a decimal, and does not call that an integer, whatever its value. */
  readonly decimal: boolean;

  constructor(value: Quantity, decimal = false) {
    this.value = value;
    this.decimal = decimal;
  }

  get nano(): bigint {
    return this.value.nano;
  }

  toString(): string {
    return formatQuantity(this.value);
  }
}

function parse(text: string): CelQuantity | undefined {
  try {
    return new CelQuantity(parseQuantity(text), /\..*i$/.test(text));
  } catch {
    return undefined;
  }
}

export function registerQuantity(library: Library): void {
  const type = 'kubernetes.Quantity';
  library.environment.registerType(type, CelQuantity as never);
  const made = (from: CelQuantity, nano: bigint) => new CelQuantity({ nano, format: from.value.format });
  const compare = (a: CelQuantity, b: CelQuantity) => (a.nano < b.nano ? -1n : a.nano > b.nano ? 1n : 0n);
  const isInteger = (q: CelQuantity) =>
    !q.decimal && q.nano % NANO === 0n && q.nano / NANO <= 2n ** 63n - 1n && q.nano / NANO >= -(2n ** 63n);
  library
    .add('isQuantity(string): bool', (text: string) => parse(text) !== undefined)
    .add(
      `quantity(string): ${type}`,
      (text: string) =>
        parse(text) ??
        library.fail("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    )
    .add(`${type}.sign(): int`, (q: CelQuantity) => (q.nano < 0n ? -1n : q.nano > 0n ? 1n : 0n))
    .add(`${type}.isInteger(): bool`, isInteger)
    .add(`${type}.asInteger(): int`, (q: CelQuantity) =>
      isInteger(q) ? q.nano / NANO : library.fail('cannot convert value to integer'),
    )
    .add(`${type}.asApproximateFloat(): double`, (q: CelQuantity) => Number(q.nano) / 1e9)
    .add(`${type}.add(${type}): ${type}`, (a: CelQuantity, b: CelQuantity) => made(a, a.nano + b.nano))
    .add(`${type}.add(int): ${type}`, (a: CelQuantity, b: bigint) => made(a, a.nano + b * NANO))
    .add(`${type}.sub(${type}): ${type}`, (a: CelQuantity, b: CelQuantity) => made(a, a.nano - b.nano))
    .add(`${type}.sub(int): ${type}`, (a: CelQuantity, b: bigint) => made(a, a.nano - b * NANO))
    .add(`${type}.isGreaterThan(${type}): bool`, (a: CelQuantity, b: CelQuantity) => a.nano > b.nano)
    .add(`${type}.isLessThan(${type}): bool`, (a: CelQuantity, b: CelQuantity) => a.nano < b.nano)
    .add(`${type}.compareTo(${type}): int`, compare);
  library.environment.registerOperator(`${type} == ${type}`, (a: CelQuantity, b: CelQuantity) => a.nano === b.nano);
}

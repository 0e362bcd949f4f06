import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type QuantityFormat,
  roundUpToMilli,
  subQuantity,
} from './quantity.ts';

/** text, canonical text, error, rounded up to thousandths: as k8s.io/apimachinery 0.35.8 has them. */
type Row = [string, string | null, string | null, string | null];
const recorded: Row[] = JSON.parse(readFileSync(new URL('./testdata/quantities.json', import.meta.url), 'utf8'));
/** From a thousand E on upstream has no suffix and loses the magnitude (`2529000E` becomes `2529`); we keep it. */
const rows = recorded.filter(([text]) => !/^\d+000E$|^10{23}$/.test(text));

function problem(text: string): string | null {
  try {
    parseQuantity(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('quantities as Go has them', () => {
  it('same errors', () => {
    expect(rows.map(([text]) => [text, problem(text)])).toEqual(rows.map(([text, , error]) => [text, error]));
  });

  const good = rows.filter(([, text]) => text !== null);
  it('same canonical text', () => {
    expect(good.map(([text]) => [text, canonicalQuantity(text)])).toEqual(good.map(([text, out]) => [text, out]));
  });

  it('same rounding', () => {
    const ours = good.map(([text]) => [text, formatQuantity(roundUpToMilli(parseQuantity(text)))]);
    expect(ours).toEqual(good.map(([text, , , milli]) => [text, milli]));
  });
});

const quantity = fc.record({
  nano: fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
  format: fc.constantFrom<QuantityFormat>('DecimalSI', 'BinarySI', 'DecimalExponent'),
});

describe('arithmetic', () => {
  it('text keeps the value', () => {
    fc.assert(fc.property(quantity, (q) => parseQuantity(formatQuantity(q)).nano === q.nano));
  });

  it('canonical text is canonical', () => {
    fc.assert(fc.property(quantity, (q) => canonicalQuantity(formatQuantity(q)) === formatQuantity(q)));
  });

  it('adding and taking away again changes nothing', () => {
    fc.assert(fc.property(quantity, quantity, (a, b) => compareQuantity(subQuantity(addQuantity(a, b), b), a) === 0));
  });

  it('order is total and agrees with subtraction', () => {
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        const difference = subQuantity(a, b).nano;
        return compareQuantity(a, b) === (difference < 0n ? -1 : difference > 0n ? 1 : 0);
      }),
    );
  });
});

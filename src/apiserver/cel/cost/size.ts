/** How large a value may be: characters, bytes, elements. */
export interface Size {
  min: number;
  max: number;
}

/** The largest number upstream counts to; sums and products stop there. */
export const MAX = 2 ** 64;

export const UNKNOWN: Size = { min: 0, max: MAX };

export const cap = (value: number) => Math.min(value, MAX);
export const fixed = (size: number): Size => ({ min: size, max: size });
export const union = (a: Size, b: Size): Size => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });
export const plus = (a: Size, b: Size): Size => ({ min: cap(a.min + b.min), max: cap(a.max + b.max) });
export const times = (a: Size, b: Size): Size => ({ min: cap(a.min * b.min), max: cap(a.max * b.max) });

/** The cost of so many units at a price, rounded up. */
export const price = (size: Size, factor: number) => cap(Math.ceil(size.max * factor));

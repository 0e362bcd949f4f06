import { describe, expect, it } from 'vitest';
import { quantityValue } from './quantity.ts';

describe('amounts', () => {
  it.each([
    ['500m', 0.5],
    ['2', 2],
    ['.5', 0.5],
    ['512Mi', 2 ** 29],
    ['1e3', 1000],
    ['1E', 1e18],
    ['+2Gi', 2 ** 31],
    ['1Pi', 2 ** 50],
    ['3P', 3e15],
  ])('%s', (text, value) => {
    expect(quantityValue(text)).toBe(value);
  });

  it.each(['', '0', '-5', '1..2', 'lots', '5Xi', '1e'])('%j is none', (text) => {
    expect(() => quantityValue(text)).toThrow('is no amount above zero');
  });
});

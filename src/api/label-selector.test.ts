import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatLabelSelector,
  matchesLabels,
  parseLabelSelector,
  SelectorError,
  selectorFromObject,
} from './label-selector.ts';

const matches = (text: string, labels?: Record<string, string>) => matchesLabels(parseLabelSelector(text), labels);

describe('label selectors', () => {
  it.each([
    ['', { a: 'b' }, true],
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', undefined, true],
    ['a in (b, c),d', { a: 'c', d: '' }, true],
    ['a notin (b,c)', { a: 'b' }, false],
    ['!a', {}, true],
    ['a', { a: '' }, true],
    ['a=', { a: '' }, true],
    ['n>9', { n: '10' }, true],
    ['n<9', { n: '10' }, false],
    ['n>1', { n: 'many' }, false],
    ['example.com/x in (1)', { 'example.com/x': '1' }, true],
  ])('%j on %j is %s', (text, labels, expected) => {
    expect(matches(text, labels as Record<string, string> | undefined)).toBe(expected);
  });

  it.each(['a b', 'a in', 'a in (', '=a', 'a,,b', 'a=b=c', 'a in b', '-a', 'a=%', 'x/y/z=1', 'n>many'])(
    'refuses %j',
    (text) => {
      expect(() => parseLabelSelector(text)).toThrow(SelectorError);
    },
  );

  it('reads the object form', () => {
    const selector = selectorFromObject({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    });
    expect(selector && formatLabelSelector(selector)).toBe('app=web,!old,tier in (a,b)');
    expect(selectorFromObject(undefined)).toBeUndefined();
    expect(() => selectorFromObject({ matchExpressions: [{ key: 'a', operator: 'Like' }] })).toThrow(SelectorError);
  });

  const word = fc.stringMatching(/^[a-z][a-z0-9]{0,4}$/);
  const labels = fc.dictionary(word, word, { maxKeys: 4 });

  it('what is selected by equality has those labels', () => {
    fc.assert(
      fc.property(labels, labels, (wanted, actual) => {
        const text = Object.entries(wanted)
          .map(([key, value]) => `${key}=${value}`)
          .join(',');
        const expected = Object.entries(wanted).every(([key, value]) => actual[key] === value);
        expect(matches(text, actual)).toBe(expected);
      }),
    );
  });

  it('a selector and its formatted text select the same', () => {
    const requirement = fc.oneof(
      word,
      word.map((key) => `!${key}`),
      fc.tuple(word, fc.constantFrom('=', '!='), word).map((parts) => parts.join('')),
      fc
        .tuple(word, fc.constantFrom('in', 'notin'), fc.array(word, { minLength: 1, maxLength: 3 }))
        .map(([key, op, values]) => `${key} ${op} (${values.join(',')})`),
    );
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), labels, (parts, actual) => {
        const selector = parseLabelSelector(parts.join(','));
        const again = parseLabelSelector(formatLabelSelector(selector));
        expect(matchesLabels(again, actual)).toBe(matchesLabels(selector, actual));
      }),
    );
  });

  it('never hangs or fails otherwise on any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseLabelSelector(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SelectorError);
        }
      }),
    );
  });
});

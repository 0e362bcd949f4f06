import { expect, it } from 'vitest';
import { isLoaded } from './engine.ts';
import { hasRules, validateRules } from './rules.ts';

it('loads the engine with the first rule, not before', () => {
  const plain = { type: 'object' as const, properties: { a: { type: 'string' as const } } };
  expect(hasRules(plain)).toBe(false);
  expect(validateRules({ a: 'x' }, plain)).toEqual([]);
  expect(isLoaded()).toBe(false);
  validateRules({ a: 'x' }, { ...plain, 'x-kubernetes-validations': [{ rule: 'self.a == "x"' }] });
  expect(isLoaded()).toBe(true);
});

import { expect, it } from 'vitest';
import { z } from 'zod';
import { immutable, withRules } from './kind.ts';

it('rules are added to those a schema has', () => {
  const schema = immutable(withRules(z.string(), { rule: "self != ''", message: 'must not be empty' }), 'name');
  const rules = schema.meta()?.['x-kubernetes-validations'] as { rule: string }[];
  expect(rules.map(({ rule }) => rule)).toEqual(["self != ''", 'self == oldSelf']);
});

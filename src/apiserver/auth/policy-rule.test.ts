import { expect, test } from 'vitest';
import { expandRule } from './bootstrap-policy.ts';
import { ruleText, uncovered } from './policy-rule.ts';

const missing = (held: string[], wanted: string[]) =>
  uncovered(held.map(expandRule), wanted.map(expandRule)).map(ruleText);

test('rights cover what they include, and nothing else', () => {
  expect(missing(['* * *', '* *'], ['all core pods', 'get /metrics', 'get core secrets a,b'])).toEqual([]);
  expect(missing(['get core */scale'], ['get core deployments/scale'])).toEqual([]);
  expect(missing(['get core */scale'], ['get core deployments'])).toHaveLength(1);
  expect(missing(['get /api/*'], ['get /api/v1'])).toEqual([]);
  expect(missing(['get /api/*'], ['get /apis', 'post /api/v1'])).toHaveLength(2);
  expect(missing(['get core pods'], ['get apps pods'])).toHaveLength(1);
  expect(missing(['* * *'], ['get /metrics'])).toHaveLength(1);
});

test('rights on named objects cover those names only', () => {
  expect(missing(['get core secrets'], ['get core secrets a'])).toEqual([]);
  expect(missing(['get core secrets a,b'], ['get core secrets a'])).toEqual([]);
  expect(missing(['get core secrets a'], ['get core secrets a,b'])).toEqual([
    '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}',
  ]);
  expect(missing(['get core secrets a'], ['get core secrets'])).toHaveLength(1);
});

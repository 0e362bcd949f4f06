import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { FORCE_ANNOTATION, misplacedRequirements, whyLocked } from './navigation.ts';

const template = (navigation: string | undefined, steps: object[]): KubeObject => ({
  apiVersion: 'x/v1',
  kind: 'WorkspaceTemplate',
  metadata: { name: 'course' },
  spec: { navigation, steps },
});
const instance = (completedSteps: string[] = [], status: object = {}, annotations = {}): KubeObject => ({
  apiVersion: 'x/v1',
  kind: 'WorkspaceInstance',
  metadata: { name: 'ada', annotations },
  status: { completedSteps, ...status },
});
const abc = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];

describe('linear', () => {
  const course = template('linear', abc);
  it.each([
    ['the first', 'a', [], undefined],
    ['the next one, once this is done', 'b', ['a'], undefined],
    [
      'the next one before',
      'b',
      [],
      'navigation of the template course is linear, and what comes before it is not done yet: a',
    ],
    ['a jump', 'c', ['a'], 'navigation of the template course is linear, and what comes before it is not done yet: b'],
    ['back', 'a', ['a', 'b'], undefined],
  ])('%s', (_what, id, done, rule) => {
    expect(whyLocked(course, instance(done), id)).toBe(rule);
  });
});

describe('free', () => {
  it.each(['free', undefined])('%s lets everybody in but for what a step requires', (navigation) => {
    const course = template(navigation, [...abc, { id: 'd', requires: ['a', 'c'] }]);
    expect(whyLocked(course, instance(), 'c')).toBeUndefined();
    expect(whyLocked(course, instance(['a']), 'd')).toBe('it requires what is not done yet: c');
    expect(whyLocked(course, instance(['a', 'c']), 'd')).toBeUndefined();
  });
});

describe('guided', () => {
  const course = template('guided', [
    { id: 'pods', group: 'basics' },
    { id: 'services', group: 'basics' },
    { id: 'extra' },
    { id: 'rbac', group: 'security', requires: ['pods'] },
  ]);
  it.each([
    ['within a group', 'services', [], undefined],
    ['without group and requirements', 'extra', [], undefined],
    ['what it requires comes first', 'rbac', [], 'it requires what is not done yet: pods'],
    [
      'the group before',
      'rbac',
      ['pods'],
      'navigation of the template course is guided, and the group before it (basics) is not done yet: services',
    ],
    ['the group before is done', 'rbac', ['pods', 'services'], undefined],
  ])('%s', (_what, id, done, rule) => {
    expect(whyLocked(course, instance(done), id)).toBe(rule);
  });
});

it('lets people go where they have been, where they are, and where an instructor sends them', () => {
  const course = template('linear', abc);
  expect(whyLocked(course, instance([], { stepHistory: [{ step: 'c' }] }), 'c')).toBeUndefined();
  expect(whyLocked(course, instance([], { currentStep: 'c' }), 'c')).toBeUndefined();
  expect(whyLocked(course, instance([], {}, { [FORCE_ANNOTATION]: 'c' }), 'c')).toBeUndefined();
  expect(whyLocked(course, instance([], {}, { [FORCE_ANNOTATION]: 'b' }), 'c')).toBeDefined();
});

it('finds requirements that nobody can meet', () => {
  const steps = [
    { id: 'a', requires: ['a', 'b'] },
    { id: 'b', requires: ['a', 'nowhere'] },
  ];
  expect(misplacedRequirements(template('free', steps))).toEqual([
    { field: 'spec.steps[0].requires[0]', value: 'a', rule: 'a does not come before a' },
    { field: 'spec.steps[0].requires[1]', value: 'b', rule: 'b does not come before a' },
    { field: 'spec.steps[1].requires[1]', value: 'nowhere', rule: 'there is no step nowhere' },
  ]);
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANONYMOUS, LOOPBACK } from '../auth/identity.ts';
import { bootstrapFlowControl } from '../loops/bootstrap-flow-control.ts';
import { TestCluster } from '../loops/testing/test-cluster.ts';
import { parseRoute } from '../server/route.ts';
import { classify, flowTableOf } from './flow-schemas.ts';

let cluster: TestCluster;
beforeEach(() => {
  cluster = new TestCluster();
});
afterEach(() => cluster.close());

const STUDENT = { user: 'student', groups: ['students', 'system:authenticated'] };
const LIST = parseRoute('GET', '/api/v1/namespaces/default/pods', new URLSearchParams());
const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const schema = (name: string, level: string, more: object = {}) => ({
  apiVersion,
  kind: 'FlowSchema',
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name: level },
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'student' } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
      },
    ],
    ...more,
  },
});
const found = (identity = STUDENT) => {
  const { name, level } = classify(flowTableOf(cluster.context.store), identity, LIST);
  return [name, level.name];
};

it('without any object, administrators are exempt and all others fall under catch-all', () => {
  expect(found(LOOPBACK)).toEqual(['exempt', 'exempt']);
  expect(found()).toEqual(['catch-all', 'catch-all']);
  expect(found(ANONYMOUS)).toEqual(['catch-all', 'catch-all']);
});

it('changes count from the next request on, those without a level do not', async () => {
  for (const object of bootstrapFlowControl(0)) await cluster.create(object);
  expect(found()).toEqual(['global-default', 'global-default']);
  await cluster.create(schema('mine', 'missing'));
  expect(found()).toEqual(['global-default', 'global-default']);
  await cluster.merge(schema('mine', 'missing'), { spec: { priorityLevelConfiguration: { name: 'workload-low' } } });
  expect(found()).toEqual(['mine', 'workload-low']);
  await cluster.delete(schema('mine', 'missing'));
  expect(found()).toEqual(['global-default', 'global-default']);
});

it('no flow schema takes administrators out of the exempt level, and that level limits nothing', async () => {
  const everyone = { subjects: [{ kind: 'Group', group: { name: 'system:masters' } }] };
  await cluster.create(schema('trap', 'catch-all', { matchingPrecedence: 1, rules: [everyone] }));
  const limited = { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' } };
  const exempt = { apiVersion, kind: 'PriorityLevelConfiguration', metadata: { name: 'exempt' } };
  await cluster.create({ ...exempt, spec: { type: 'Limited', limited } });
  expect(found(LOOPBACK)).toEqual(['exempt', 'exempt']);
  expect(flowTableOf(cluster.context.store).levels.find(({ name }) => name === 'exempt')?.isExempt).toBe(true);
});

it('a user cannot make each request be compared with megabytes of rules', async () => {
  const subjects = Array.from({ length: 3000 }, (_, n) => ({ kind: 'User', user: { name: `user-${n}` } }));
  for (let n = 0; n < 5; n++) {
    await cluster.create(schema(`large-${n}`, 'catch-all', { rules: [{ subjects, resourceRules: [] }] }));
  }
  await cluster.create(schema('a-small-one', 'catch-all'));
  const { schemas } = flowTableOf(cluster.context.store);
  expect(schemas.map(({ name }) => name)).toContain('a-small-one');
  expect(schemas.length).toBeLessThan(7);
  expect(found()).toEqual(['a-small-one', 'catch-all']);
});

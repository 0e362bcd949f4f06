import { afterEach, beforeEach, expect, it } from 'vitest';
import { bootstrapFlowControl } from './bootstrap-flow-control.ts';
import { flowSchemaStatus } from './flow-schema-status.ts';
import { TestCluster } from './testing/test-cluster.ts';

let cluster: TestCluster;
beforeEach(() => {
  cluster = new TestCluster();
});
afterEach(() => cluster.close());

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const schema = {
  apiVersion,
  kind: 'FlowSchema',
  metadata: { name: 'mine' },
  spec: { priorityLevelConfiguration: { name: 'level' } },
};
const level = {
  apiVersion,
  kind: 'PriorityLevelConfiguration',
  metadata: { name: 'level' },
  spec: { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } } },
};
const condition = () => cluster.get(schema)?.status?.conditions?.[0];

it('says in the words of kube-apiserver whether the level exists, and changes its mind when that does', async () => {
  await cluster.create(schema);
  cluster.start(flowSchemaStatus);
  await cluster.until(() => condition()?.status === 'True');
  expect(condition()).toMatchObject({
    type: 'Dangling',
    reason: 'NotFound',
    message:
      'This FlowSchema references the PriorityLevelConfiguration object named "level" but there is no such object',
    lastTransitionTime: expect.stringMatching(/Z$/),
  });
  await cluster.create(level);
  await cluster.until(() => condition()?.status === 'False');
  expect(condition().message).toBe(
    'This FlowSchema references the PriorityLevelConfiguration object named "level" and it exists',
  );
  await cluster.delete(level);
  await cluster.until(() => condition()?.status === 'True');
  expect(cluster.get(schema)?.status.conditions).toHaveLength(1);
});

it('leaves what is right alone', async () => {
  for (const object of bootstrapFlowControl(0)) {
    await cluster.create(object);
    if (object.status) await cluster.merge(object, { status: object.status }, 'status');
  }
  const { rv } = cluster.context.store;
  cluster.start(flowSchemaStatus);
  await cluster.settle();
  expect(cluster.context.store.rv).toBe(rv);
});

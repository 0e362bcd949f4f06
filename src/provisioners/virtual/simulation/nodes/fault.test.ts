import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeObject } from '../../../../api/object.ts';
import { pod, VirtualTestCluster } from '../simulation.fixture.ts';
import { simulatedNode } from './simulated-node.ts';

let cluster: VirtualTestCluster;
beforeEach(async () => {
  cluster = await VirtualTestCluster.start(1);
});
afterEach(() => cluster.close());

const node = simulatedNode('t', 'node', 0);
const found = () => cluster.get(node) as KubeObject;
const fault = (value: string | null) =>
  cluster.merge(node, { metadata: { annotations: { 'rookery.dev/fault': value } } });
const condition = (type: string) => found().status.conditions.find((c: { type: string }) => c.type === type);
const taints = () => (found().spec.taints ?? []).map(({ key, effect }: Record<string, string>) => `${key}:${effect}`);

it('breaks a node and mends it', async () => {
  await cluster.create(pod('web'));
  await cluster.phase('web', 'Running');
  await fault('Unreachable');
  await cluster.until(() => taints().length === 2);
  expect(condition('Ready')).toMatchObject({ status: 'Unknown', reason: 'NodeStatusUnknown' });
  expect(taints()).toContain('node.kubernetes.io/unreachable:NoExecute');
  const ready = ({ status }: KubeObject) => status.conditions.find((c: { type: string }) => c.type === 'Ready').status;
  await cluster.podWhen('web', (it) => ready(it) === 'False');
  await fault(null);
  await cluster.until(() => taints().length === 0);
  expect(condition('Ready')).toMatchObject({ status: 'True', reason: 'KubeletReady' });
  await cluster.podWhen('web', (it) => ready(it) === 'True');
});

it('knows several faults at once, and takes back those that are no longer named', async () => {
  await fault('DiskPressure,NetworkUnavailable');
  await cluster.until(() => taints().length === 2);
  await fault('DiskPressure');
  await cluster.until(() => condition('NetworkUnavailable') === undefined);
  expect(condition('DiskPressure').status).toBe('True');
  await cluster.until(() => taints().join() === 'node.kubernetes.io/disk-pressure:NoSchedule');
});

it('leaves conditions alone that somebody else set', async () => {
  const mine = { type: 'Ready', status: 'False', reason: 'Mine', message: 'mine' };
  await cluster.merge(node, { status: { conditions: [mine] } }, 'status');
  await cluster.until(() => taints().length === 2);
  await fault('DiskPressure');
  await cluster.until(() => condition('DiskPressure')?.status === 'True');
  await fault(null);
  await cluster.until(() => condition('DiskPressure')?.status === 'False');
  expect(condition('Ready').reason).toBe('Mine');
});

it('says which faults there are when it does not know one', async () => {
  await fault('Broken');
  await cluster.until(() => cluster.all('Event', 'v1').some(({ reason }) => reason === 'UnknownFault'));
  const [event] = cluster.all('Event', 'v1').filter(({ reason }) => reason === 'UnknownFault');
  expect(event?.message).toMatch(/^Broken: no such fault; there are NotReady, Unreachable, /);
});

it('breaks a node by the label that kwok has for it', async () => {
  const stage = 'node-not-ready.stage.kwok.x-k8s.io';
  const annotations = { [`${stage}/reason`]: 'Chaos', [`${stage}/type`]: 'DiskPressure' };
  await cluster.merge(node, { metadata: { labels: { [stage]: 'true' }, annotations } });
  await cluster.until(() => condition('Ready').status === 'False');
  expect(condition('Ready')).toMatchObject({ reason: 'Chaos', message: expect.stringContaining('node failed') });
  expect(condition('DiskPressure')).toMatchObject({ status: 'True', reason: 'Chaos' });
  await cluster.until(() => taints().includes('node.kubernetes.io/not-ready:NoExecute'));
  await cluster.merge(node, { metadata: { labels: { [stage]: null } } });
  await cluster.until(() => taints().length === 0);
  expect(condition('Ready')).toMatchObject({ status: 'True', reason: 'KubeletReady' });
});

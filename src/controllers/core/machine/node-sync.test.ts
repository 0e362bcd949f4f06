import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import type { MachineScope } from './machine-scope.ts';
import { wantedNode } from './node-sync.ts';

function scope(machine: Partial<KubeObject>, rest: Partial<MachineScope> = {}): MachineScope {
  const object = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name: 'm', namespace: 'ns', ...machine.metadata },
    spec: { clusterName: 'nest', ...machine.spec },
  };
  return { machine: object, infrastructure: { missing: false }, ...rest } as MachineScope;
}
const node = (parts: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  ...parts,
});
/** What is there after a second look is what was there after the first. */
function synced(of: MachineScope, before: KubeObject): KubeObject {
  const after = { ...before, ...wantedNode(of, before) };
  expect(wantedNode(of, after)).toEqual({ metadata: after.metadata, spec: after.spec });
  return after;
}

describe('labels and annotations', () => {
  const labels = {
    'node-role.kubernetes.io/worker': '',
    'team.node-restriction.kubernetes.io/a': '1',
    'node.cluster.x-k8s.io/pool': 'blue',
    'example.com/private': 'x',
  };

  it('of the domains meant for nodes are given, and noted', () => {
    const annotations = { 'node.cluster.x-k8s.io/note': 'hello', other: 'x' };
    const { metadata } = synced(scope({ metadata: { labels, annotations } }), node());
    expect(Object.keys(metadata.labels ?? {})).toHaveLength(3);
    expect(metadata.annotations).toMatchObject({
      'cluster.x-k8s.io/cluster-name': 'nest',
      'cluster.x-k8s.io/cluster-namespace': 'ns',
      'cluster.x-k8s.io/machine': 'm',
      'node.cluster.x-k8s.io/note': 'hello',
      'cluster.x-k8s.io/annotations-from-machine': 'node.cluster.x-k8s.io/note',
    });
    expect(metadata.annotations).not.toHaveProperty('other');
  });

  it('are taken away when the machine has them no more; others’ stay', () => {
    const given = synced(scope({ metadata: { labels } }), node({ metadata: { name: 'n', labels: { mine: 'y' } } }));
    const { metadata } = synced(scope({}), given);
    expect(metadata.labels).toEqual({ mine: 'y' });
    expect(metadata.annotations?.['cluster.x-k8s.io/labels-from-machine']).toBe('');
  });

  it('say that a machine may be interrupted', () => {
    const infrastructure = { missing: false, object: node({ status: { interruptible: true } }) };
    const { metadata } = synced(scope({}, { infrastructure }), node());
    expect(metadata.labels).toEqual({ 'cluster.x-k8s.io/interruptible': '' });
  });
});

describe('taints', () => {
  const always = { key: 'a', value: '1', effect: 'NoSchedule', propagation: 'Always' };
  const once = { key: 'b', effect: 'NoExecute', propagation: 'OnInitialization' };
  const uninitialized = { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' };
  const foreign = { key: 'mine', effect: 'NoSchedule' };

  it('of the machine come, the one of an uninitialized node goes, others’ stay', () => {
    const after = synced(
      scope({ spec: { taints: [always, once] } }),
      node({ spec: { taints: [uninitialized, foreign] } }),
    );
    expect(after.spec.taints).toEqual([
      foreign,
      { key: 'a', value: '1', effect: 'NoSchedule' },
      { key: 'b', effect: 'NoExecute' },
    ]);
  });

  it('that are set once are not set again, and those that are kept follow the machine', () => {
    const first = synced(scope({ spec: { taints: [always, once] } }), node());
    const removed = { ...first, spec: { taints: [{ key: 'a', value: '1', effect: 'NoSchedule' }] } };
    const second = synced(scope({ spec: { taints: [{ ...always, value: '2' }, once] } }), removed);
    expect(second.spec.taints).toEqual([{ key: 'a', value: '2', effect: 'NoSchedule' }]);
    expect(synced(scope({ spec: {} }), second).spec.taints).toBeUndefined();
  });

  it('keep pods away from nodes that are replaced next', () => {
    const revision = (value: string) =>
      node({ metadata: { annotations: { 'machinedeployment.clusters.x-k8s.io/revision': value } } });
    const old = scope({}, { machineSet: revision('1'), machineDeployment: revision('2') });
    const after = synced(old, node());
    expect(after.spec.taints).toEqual([{ key: 'node.cluster.x-k8s.io/outdated-revision', effect: 'PreferNoSchedule' }]);
    const current = scope({}, { machineSet: revision('2'), machineDeployment: revision('2') });
    expect(synced(current, after).spec.taints).toBeUndefined();
  });
});

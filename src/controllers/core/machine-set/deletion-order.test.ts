import { expect, it } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import { FakeClock } from '../../../kube/testing/fake-clock.ts';
import { inDeletionOrder } from './deletion-order.ts';

const clock = new FakeClock(Date.parse('2030-01-20T00:00:00Z'));

function machine(
  name: string,
  day: number,
  extra: Partial<KubeObject['metadata']> = {},
  status: object = {},
): KubeObject {
  const creationTimestamp = `2030-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name, creationTimestamp, ...extra },
    status: { nodeRef: { name }, ...status },
  };
}
const names = (machines: KubeObject[]) => machines.map(({ metadata }) => metadata.name);

const sick = machine('sick', 5, {}, { conditions: [{ type: 'NodeHealthy', status: 'False' }] });
const asked = machine('asked', 5, { annotations: { 'cluster.x-k8s.io/delete-machine': '' } });
const going = machine('going', 5, { deletionTimestamp: '2030-01-20T00:00:00Z' });
const lost = machine('lost', 5, {}, { nodeRef: undefined });

it('takes what is going, then what a person chose, then what is sick', () => {
  const machines = [machine('a', 5), lost, sick, asked, going];
  expect(names(inDeletionOrder(machines, 'Random', clock))).toEqual(['going', 'asked', 'lost', 'sick', 'a']);
});

it('takes the newest or the oldest of the rest, by name where nothing else decides', () => {
  const machines = [machine('b', 3), machine('c', 1), machine('a', 9)];
  expect(names(inDeletionOrder(machines, 'Newest', clock))).toEqual(['a', 'b', 'c']);
  expect(names(inDeletionOrder(machines, 'Oldest', clock))).toEqual(['c', 'b', 'a']);
  expect(names(inDeletionOrder(machines, undefined, clock))).toEqual(['a', 'b', 'c']);
});

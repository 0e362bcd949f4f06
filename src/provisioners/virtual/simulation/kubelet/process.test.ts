import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../api/object.ts';
import { outcomeOf } from './process.ts';

const ownedBy = (kind: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', ownerReferences: [{ apiVersion: 'x', kind, name: 'o', uid: 'u', controller: true }] },
});

test.each([
  ['registry.k8s.io/pause:3.10.1', true],
  ['pause', true],
  ['pause-amd64:3.1', true],
  ['example.com/pausing:1', false],
  ['example.com/pause/tool:1', false],
  ['busybox', false],
])('%s in a Job waits for its end: %s', (image, waits) => {
  expect(outcomeOf(ownedBy('Job'), { image }) === undefined).toBe(waits);
});

test('what a command says comes before what the image is', () => {
  expect(outcomeOf(ownedBy('Job'), { image: 'pause', command: ['sh', '-c', 'exit 3'] })).toMatchObject({ exitCode: 3 });
  expect(outcomeOf(ownedBy('ReplicaSet'), { image: 'busybox' })).toBeUndefined();
});

/** ResourceQuotas: their status after deletes, ends and changes; what is created is counted by admission itself. */
import { quotaStatus } from '../../../apiserver/admission/resource-quota.ts';
import { type Change, type Controller, itself, keyOf } from './controller.ts';
import { isDeleting, isFinished } from './pod.ts';
import type { World } from './world.ts';

const QUOTAS = '/resourcequotas';
/** What quotas count besides pods. */
const COUNTED = [
  '/services',
  '/persistentvolumeclaims',
  '/configmaps',
  '/secrets',
  '/replicationcontrollers',
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
  'apps/daemonsets',
  'batch/jobs',
  'batch/cronjobs',
];

export const resourceQuotas: Controller = {
  name: 'resourcequota-controller',
  on: {
    [QUOTAS]: itself,
    '/pods': function* (change, world) {
      const [now, before] = [change.current?.object(), change.previous?.object()];
      if (now && before && isFinished(now) === isFinished(before) && isDeleting(now) === isDeleting(before)) return;
      yield* quotasIn(change, world);
    },
    ...Object.fromEntries(COUNTED.map((resource) => [resource, onDelete])),
  },
  async reconcile(world, namespace, name) {
    const quota = world.cache.get(QUOTAS, namespace, name);
    if (!quota || isDeleting(quota)) return;
    const { store } = world.context;
    const list = (resource: string, place?: string) => store.list({ resource, namespace: place }).items;
    await world.updateStatus(QUOTAS, quota, { ...quota.status, ...quotaStatus({ list }, quota, world.now) });
  },
};

function* onDelete(change: Change, world: World): Generator<string> {
  if (!change.current) yield* quotasIn(change, world);
}

function* quotasIn({ current, previous }: Change, world: World): Generator<string> {
  const namespace = (current ?? previous)?.key.namespace ?? '';
  if (world.cache.count(QUOTAS, namespace) === 0) return;
  for (const quota of world.cache.list(QUOTAS, namespace)) yield keyOf(quota.metadata);
}

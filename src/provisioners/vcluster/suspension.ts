/** Stops a vcluster and keeps its data, with the marks of vcluster's own `pause`, so that its command line knows it as paused. */
import { type Clock, rfc3339 } from '../../clock.ts';
import { ignoreNotFound, keyOf, type ObjectStore } from '../../kube/index.ts';
import type { Progress } from '../provisioner.ts';
import { ownPods } from './diagnosis.ts';
import * as host from './host-resources.ts';
import { FIELD_MANAGER, ownerOf, PAUSED, PAUSED_DATE, PAUSED_REPLICAS, SYNCED_LABEL } from './marks.ts';
import { type Place, survey } from './survey.ts';

const POLL_MS = 1000;

export async function suspendInHost(
  store: ObjectStore,
  place: Place,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Progress> {
  const { id, name, namespace } = place;
  const { statefulSet } = await survey(store, place, signal);
  if (!statefulSet || ownerOf(statefulSet) !== id) {
    return { phase: 'blocked', reason: 'NotThere', message: 'the host has nothing of it', lookAgainMs: 10_000 };
  }
  if (statefulSet.spec?.replicas !== 0) {
    const annotations = { [PAUSED]: 'true', [PAUSED_REPLICAS]: '1', [PAUSED_DATE]: rfc3339(clock.now()) };
    const patch = { type: 'merge' as const, body: { metadata: { annotations }, spec: { replicas: 0 } } };
    await store.patch(host.statefulSets, { namespace, name }, patch, { fieldManager: FIELD_MANAGER, signal });
  }
  // Its pods only after itself: as long as it runs, it takes their end for that of what is in the cluster.
  if ((await ownPods(store, name, namespace, signal)).length > 0) return stopping('the control plane is being stopped');
  const { items } = await store.list(host.pods, { namespace, labelSelector: `${SYNCED_LABEL}=${name}`, signal });
  await Promise.all(items.map((pod) => store.delete(host.pods, keyOf(pod), { signal }).catch(ignoreNotFound)));
  if (items.length > 0) return stopping(`${items.length} pods of it are being stopped`);
  const message = 'the control plane and all its pods are stopped; its volumes are kept';
  return { phase: 'suspended', reason: 'Suspended', message, next: 'resume starts it again, and it its pods' };
}

const stopping = (message: string): Progress => ({
  phase: 'working',
  reason: 'Suspending',
  message,
  usualMs: 15_000,
  lookAgainMs: POLL_MS,
});

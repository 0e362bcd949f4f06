/** Claims that pods use, and volumes that claims use, are not deleted under them: the finalizer goes when they are free. */
import type { KubeObject } from '../../../../api/object.ts';
import { type Controller, itself, keyOf } from '../controller.ts';
import { isDeleting, PODS } from '../pod.ts';
import type { World } from '../world.ts';
import { isUsed } from './volume-binder.ts';
import { CLAIMS, VOLUMES } from './volume-matching.ts';

export const claimProtection: Controller = {
  name: 'pvc-protection-controller',
  on: {
    [CLAIMS]: itself,
    [PODS]: function* ({ current, previous }) {
      const pod = (current ?? previous)?.object();
      // Only the end of a pod frees a claim.
      if (current && !/Succeeded|Failed/.test(pod?.status?.phase ?? '')) return;
      for (const { persistentVolumeClaim: claim } of pod?.spec.volumes ?? []) {
        if (claim) yield keyOf({ namespace: pod?.metadata.namespace, name: claim.claimName });
      }
    },
  },
  async reconcile(world, namespace, name) {
    const claim = world.cache.get(CLAIMS, namespace, name);
    if (claim && isDeleting(claim) && !isUsed(world, claim))
      await free(world, CLAIMS, claim, 'kubernetes.io/pvc-protection');
  },
};

export const volumeProtection: Controller = {
  name: 'pv-protection-controller',
  on: {
    [VOLUMES]: itself,
    [CLAIMS]: function* ({ current, previous }) {
      if (!current && previous) yield keyOf({ name: previous.object().spec?.volumeName });
    },
  },
  async reconcile(world, _namespace, name) {
    const volume = world.cache.get(VOLUMES, '', name);
    if (!volume || !isDeleting(volume)) return;
    const ref = volume.spec?.claimRef;
    const claim = ref && world.cache.get(CLAIMS, ref.namespace, ref.name);
    if (claim?.metadata.uid === ref?.uid && claim) return;
    await free(world, VOLUMES, volume, 'kubernetes.io/pv-protection');
  },
};

async function free(world: World, storage: string, object: KubeObject, finalizer: string): Promise<void> {
  if (!object.metadata.finalizers?.includes(finalizer)) return;
  await world.update(storage, object, ({ metadata }) => {
    metadata.finalizers = metadata.finalizers?.filter((f) => f !== finalizer);
  });
}

/** Claims that pods use, volumes that claims use and classes that either has are not deleted under them: the finalizer goes when they are free. */
import type { KubeObject } from '../../../../api/object.ts';
import { type Controller, itself, type Keys, keyOf } from '../controller.ts';
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

const CLASSES = 'storage.k8s.io/volumeattributesclasses';

/** The class a claim or volume has, had or is to have. */
const classesOf = ({ spec, status }: KubeObject): unknown[] => [
  spec?.volumeAttributesClassName,
  status?.currentVolumeAttributesClassName,
  status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
];
const classesOfChange: Keys = ({ current, previous }) =>
  [current, previous]
    .flatMap((stored) => (stored ? classesOf(stored.object()) : []))
    .flatMap((name) => (typeof name === 'string' && name ? [keyOf({ name })] : []));

export const classProtection: Controller = {
  name: 'volumeattributesclass-protection-controller',
  on: { [CLASSES]: itself, [CLAIMS]: classesOfChange, [VOLUMES]: classesOfChange },
  async reconcile(world, _namespace, name) {
    const found = world.cache.get(CLASSES, '', name);
    if (!found || !isDeleting(found)) return;
    const users = [...world.cache.list(CLAIMS), ...world.cache.list(VOLUMES)];
    if (users.some((user) => classesOf(user).includes(name))) return;
    await free(world, CLASSES, found, 'kubernetes.io/vac-protection');
  },
};

async function free(world: World, storage: string, object: KubeObject, finalizer: string): Promise<void> {
  if (!object.metadata.finalizers?.includes(finalizer)) return;
  await world.update(storage, object, ({ metadata }) => {
    metadata.finalizers = metadata.finalizers?.filter((f) => f !== finalizer);
  });
}

/** Claims find or get their volumes; volumes whose claim is gone are released or removed. */
import type { KubeObject } from '../../../../api/object.ts';
import { hasReason } from '../../../../apiserver/loops/loop.ts';
import { type Controller, itself, keyOf } from '../controller.ts';
import { isDeleting, PODS } from '../pod.ts';
import type { World } from '../world.ts';
import { CLAIMS, CLASSES, findVolume, isFor, provisionable, sizeOf, VOLUMES, volumeFor } from './volume-matching.ts';

const COMPONENT = 'persistentvolume-controller';

export const volumeBinder: Controller = {
  name: COMPONENT,
  // One at a time: two claims must not take the same volume.
  concurrency: 1,
  on: {
    [CLAIMS]: itself,
    // A free volume may be what a waiting claim needs; one that lost its claim concerns nobody else.
    [VOLUMES]: function* ({ current, previous }, world) {
      const ref = (current ?? previous)?.object().spec?.claimRef;
      if (ref) yield keyOf(ref);
      else if (current) yield* pending(world);
    },
    [CLASSES]: (_change, world) => pending(world),
    [PODS]: function* ({ current, previous }, world) {
      if (!current || previous) return;
      for (const { persistentVolumeClaim: claim } of current.object().spec.volumes ?? []) {
        if (claim) yield keyOf({ namespace: current.key.namespace, name: claim.claimName });
      }
      void world;
    },
  },
  async reconcile(world, namespace, name) {
    const claim = world.cache.get(CLAIMS, namespace, name);
    if (!claim) return release(world, namespace, name);
    if (isDeleting(claim) && claim.status?.phase !== 'Bound') return;
    if (claim.status?.phase === 'Bound') return keep(world, claim);
    const volume = findVolume(world, claim) ?? (await provision(world, claim));
    if (!volume || (volume.spec.claimRef && !isFor(volume, claim))) return;
    await bind(world, claim, volume);
  },
};

function* pending(world: World): Generator<string> {
  for (const claim of world.cache.list(CLAIMS)) if (claim.status?.phase !== 'Bound') yield keyOf(claim.metadata);
}

async function provision(world: World, claim: KubeObject): Promise<KubeObject | undefined> {
  const storageClass = claim.spec.volumeName ? undefined : provisionable(world, claim);
  if (!storageClass) {
    const reason = 'FailedBinding';
    const message = 'no persistent volumes available for this claim and no storage class is set';
    if (!claim.spec.storageClassName) say(world, claim, 'Normal', reason, message);
    else if (!world.cache.get(CLASSES, '', claim.spec.storageClassName)) {
      const missing = `storageclass.storage.k8s.io "${claim.spec.storageClassName}" not found`;
      say(world, claim, 'Warning', 'ProvisioningFailed', missing);
    }
    return undefined;
  }
  if (storageClass.volumeBindingMode === 'WaitForFirstConsumer' && !isUsed(world, claim)) {
    say(world, claim, 'Normal', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
    return undefined;
  }
  const volume = volumeFor(claim, storageClass);
  try {
    const made = await world.create(VOLUMES, volume);
    say(world, claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${made.metadata.name}`);
    return made;
  } catch (error) {
    if (hasReason(error, 'AlreadyExists')) return world.cache.get(VOLUMES, '', volume.metadata.name as string);
    throw error;
  }
}

export function isUsed(world: World, claim: KubeObject): boolean {
  return world.cache
    .list(PODS, claim.metadata.namespace ?? '')
    .some(
      ({ spec, status }) =>
        status?.phase !== 'Succeeded' &&
        status?.phase !== 'Failed' &&
        (spec.volumes ?? []).some(
          (volume: { persistentVolumeClaim?: { claimName: string } }) =>
            volume.persistentVolumeClaim?.claimName === claim.metadata.name,
        ),
    );
}

/** The volume first, then the claim: a crash between leaves a volume that is set aside for this very claim. */
async function bind(world: World, claim: KubeObject, volume: KubeObject): Promise<void> {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const reserved = volume.spec.claimRef?.uid
    ? volume
    : await world.update(VOLUMES, volume, (draft) => {
        draft.spec.claimRef = {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          name,
          namespace,
          uid,
          resourceVersion,
        };
        draft.metadata.annotations = { ...draft.metadata.annotations, 'pv.kubernetes.io/bound-by-controller': 'yes' };
      });
  await world.updateStatus(VOLUMES, reserved, {
    ...reserved.status,
    phase: 'Bound',
    lastPhaseTransitionTime: world.timestamp,
  });
  const bound = await world.update(CLAIMS, claim, (draft) => {
    draft.spec.volumeName = volume.metadata.name;
    const marks = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };
    draft.metadata.annotations = { ...draft.metadata.annotations, ...marks };
  });
  const { accessModes, capacity } = volume.spec;
  await world.updateStatus(CLAIMS, bound, { ...bound.status, phase: 'Bound', accessModes, capacity });
}

/** Bound: its volume may have vanished, or it may want to be larger. */
async function keep(world: World, claim: KubeObject): Promise<void> {
  const volume = world.cache.get(VOLUMES, '', claim.spec.volumeName ?? '');
  if (!volume) {
    await world.updateStatus(CLAIMS, claim, { ...claim.status, phase: 'Lost' });
    return say(
      world,
      claim,
      'Warning',
      'ClaimLost',
      'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    );
  }
  const wanted = claim.spec.resources?.requests?.storage;
  if (sizeOf({ storage: wanted }) <= sizeOf(claim.status?.capacity)) return;
  await world.update(VOLUMES, volume, (draft) => {
    draft.spec.capacity = { ...draft.spec.capacity, storage: wanted };
  });
  await world.updateStatus(CLAIMS, claim, { ...claim.status, capacity: { ...claim.status.capacity, storage: wanted } });
}

async function release(world: World, namespace: string, name: string): Promise<void> {
  for (const volume of world.cache.list(VOLUMES)) {
    const ref = volume.spec?.claimRef;
    if (ref?.name !== name || ref.namespace !== namespace || !ref.uid) continue;
    if (volume.spec.persistentVolumeReclaimPolicy === 'Delete') await world.remove(VOLUMES, volume);
    else if (volume.status?.phase !== 'Released') {
      await world.updateStatus(VOLUMES, volume, {
        ...volume.status,
        phase: 'Released',
        lastPhaseTransitionTime: world.timestamp,
      });
    }
  }
}

function say(world: World, about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
  world.recorder.record({ about, type, reason, message, component: COMPONENT });
}

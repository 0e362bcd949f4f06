/** Which existing volume a claim may have, and the volume that is made for it when there is none. */

import { matchesLabels, selectorFromObject } from '../../../../api/label-selector.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { readResources } from '../../../../apiserver/builtins/pod/resources.ts';
import type { World } from '../world.ts';

export const CLAIMS = '/persistentvolumeclaims';
export const VOLUMES = '/persistentvolumes';
export const CLASSES = 'storage.k8s.io/storageclasses';
const NONE = 'kubernetes.io/no-provisioner';

export function sizeOf(list: unknown): bigint {
  return readResources(list).storage?.nano ?? 0n;
}

export function isFor(volume: KubeObject, claim: KubeObject): boolean {
  const ref = volume.spec?.claimRef;
  const { name, namespace, uid } = claim.metadata;
  return ref?.name === name && ref?.namespace === namespace && (!ref.uid || ref.uid === uid);
}

/** The smallest free one that is large enough; one that was set aside for the claim before all others. */
export function findVolume(world: World, claim: KubeObject): KubeObject | undefined {
  const volumes = world.cache.list(VOLUMES).filter(({ metadata }) => !metadata.deletionTimestamp);
  if (claim.spec.volumeName) return volumes.find(({ metadata }) => metadata.name === claim.spec.volumeName);
  const reserved = volumes.find((volume) => volume.spec.claimRef && isFor(volume, claim));
  if (reserved) return reserved;
  const { accessModes = [], storageClassName = '', volumeMode = 'Filesystem', selector } = claim.spec;
  const wanted = selector && selectorFromObject(selector);
  const needed = sizeOf(claim.spec.resources?.requests);
  return volumes
    .filter(
      ({ spec, metadata }) =>
        !spec.claimRef &&
        (spec.storageClassName ?? '') === storageClassName &&
        (spec.volumeMode ?? 'Filesystem') === volumeMode &&
        sizeOf(spec.capacity) >= needed &&
        accessModes.every((mode: string) => spec.accessModes?.includes(mode)) &&
        (!wanted || matchesLabels(wanted, metadata.labels)),
    )
    .sort((a, b) => (sizeOf(a.spec.capacity) < sizeOf(b.spec.capacity) ? -1 : 1))[0];
}

/** Any class makes volumes here, whoever its provisioner is: nothing is stored in them. */
export function provisionable(world: World, claim: KubeObject): KubeObject | undefined {
  const name = claim.spec.storageClassName;
  const found = name ? world.cache.get(CLASSES, '', name) : undefined;
  return found && found.provisioner !== NONE ? found : undefined;
}

export function volumeFor(claim: KubeObject, storageClass: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const volume = `pvc-${uid}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume, annotations: { 'pv.kubernetes.io/provisioned-by': storageClass.provisioner } },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.storage },
      accessModes: claim.spec.accessModes,
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: claim.spec.volumeMode ?? 'Filesystem',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion },
      csi: { driver: storageClass.provisioner, volumeHandle: volume },
    },
  };
}

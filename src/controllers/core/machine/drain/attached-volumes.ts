/** Volumes that are still attached to a node: taking the machine away under them could lose what is written. */
import type { KubeObject } from '../../../../api/object.ts';
import { listAll, type ObjectStore, type ResourceRef } from '../../../../kube/index.ts';
import { listed } from '../../conditions.ts';
import { podsOnNode } from './pods-to-drain.ts';

const volumeAttachments: ResourceRef = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
};
const persistentVolumes: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
};

/** Undefined when none is left that matters; otherwise lines for people. */
export async function attachedVolumes(
  api: ObjectStore,
  node: KubeObject,
  signal?: AbortSignal,
): Promise<string[] | undefined> {
  const nodeName = node.metadata.name as string;
  const onNode = new Set<string>((node.status?.volumesAttached ?? []).map(({ name }: { name: string }) => name));
  const attached = (await listAll(api, volumeAttachments, { signal })).items.filter(
    ({ spec, status }) => status?.attached && spec?.nodeName === nodeName,
  );
  const byName = new Set<string>(attached.map(({ spec }) => spec?.source?.persistentVolumeName).filter(Boolean));
  if (onNode.size === 0 && byName.size === 0) return undefined;
  const ignored = await claimsOfStayingPods(api, nodeName, signal);
  const claims = new Set<string>();
  const unclaimed: string[] = [];
  for (const volume of (await listAll(api, persistentVolumes, { signal })).items) {
    const { csi, claimRef } = volume.spec ?? {};
    const handle = csi ? `kubernetes.io/csi/${csi.driver}^${csi.volumeHandle}` : '';
    const name = volume.metadata.name as string;
    if (!onNode.delete(handle) && !byName.has(name)) continue;
    byName.delete(name);
    if (claimRef?.kind !== 'PersistentVolumeClaim') unclaimed.push(name);
    else claims.add(`${claimRef.namespace}/${claimRef.name}`);
  }
  const lines = [
    line(
      'PersistentVolumeClaims',
      [...claims].filter((claim) => !ignored.has(claim)),
    ),
    line('PersistentVolumes without a claim', unclaimed),
    line('Entries of Node status.volumesAttached without a PersistentVolume', [...onNode]),
    line('VolumeAttachments without a PersistentVolume', [...byName]),
  ].filter((text) => text !== undefined);
  return lines.length > 0 ? lines : undefined;
}

/** Pods that a drain leaves where they are keep their volumes. */
async function claimsOfStayingPods(api: ObjectStore, node: string, signal?: AbortSignal): Promise<Set<string>> {
  const claims = new Set<string>();
  for (const { pod, treatment } of await podsOnNode({ api, node, signal })) {
    if (treatment !== 'ignore') continue;
    for (const volume of pod.spec?.volumes ?? []) {
      const claim = volume.persistentVolumeClaim?.claimName;
      if (claim) claims.add(`${pod.metadata.namespace}/${claim}`);
    }
  }
  return claims;
}

function line(what: string, names: string[]): string | undefined {
  return names.length > 0 ? `* ${what}: ${listed(names)}` : undefined;
}

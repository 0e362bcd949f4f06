/** One member of a StatefulSet: its name, its identity labels, its volumes. */
import type { KubeObject } from '../../../../api/object.ts';
import { clone } from '../../../../apiserver/json.ts';
import { hasReason } from '../../../../apiserver/loops/loop.ts';
import { PODS } from '../pod.ts';
import { controllerRef, type World } from '../world.ts';
import { HASH_LABEL, templateOf } from './history.ts';
import { podFrom } from './pod-template.ts';

export const CLAIMS = '/persistentvolumeclaims';

export function ordinalOf(set: KubeObject, pod: KubeObject): number {
  const prefix = `${set.metadata.name}-`;
  const name = pod.metadata.name ?? '';
  const rest = name.slice(prefix.length);
  return name.startsWith(prefix) && /^\d+$/.test(rest) ? Number(rest) : -1;
}

export async function createMember(
  world: World,
  set: KubeObject,
  ordinal: number,
  revision: KubeObject,
): Promise<void> {
  await ensureClaims(world, set, ordinal);
  const name = `${set.metadata.name}-${ordinal}`;
  const pod = podFrom(templateOf(revision), set, { name });
  pod.metadata.labels = {
    ...pod.metadata.labels,
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
    [HASH_LABEL]: revision.metadata.name as string,
  };
  pod.spec.hostname = name;
  if (set.spec.serviceName) pod.spec.subdomain = set.spec.serviceName;
  const claims = (set.spec.volumeClaimTemplates ?? []).map((template: KubeObject) => ({
    name: template.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  const own = new Set(claims.map((volume: { name: string }) => volume.name));
  const others = (pod.spec.volumes ?? []).filter((volume: { name: string }) => !own.has(volume.name));
  if (claims.length) pod.spec.volumes = [...claims, ...others];
  await world.create(PODS, pod);
}

async function ensureClaims(world: World, set: KubeObject, ordinal: number): Promise<void> {
  const { namespace = '' } = set.metadata;
  for (const template of (set.spec.volumeClaimTemplates ?? []) as KubeObject[]) {
    const name = claimName(set, template, ordinal);
    if (world.cache.get(CLAIMS, namespace, name)) continue;
    const { labels, annotations } = template.metadata;
    const claim: KubeObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name,
        namespace,
        labels: { ...labels, ...set.spec.selector?.matchLabels },
        ...(annotations ? { annotations } : {}),
        ...(set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete'
          ? { ownerReferences: [controllerRef(set)] }
          : {}),
      },
      spec: clone(template.spec),
    };
    await world.create(CLAIMS, claim).catch((error) => {
      if (!hasReason(error, 'AlreadyExists')) throw error;
    });
  }
}

/** With `whenScaled: Delete` the claims of members that are gone go too. */
export async function removeClaims(world: World, set: KubeObject, ordinal: number): Promise<void> {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return;
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claim = world.cache.get(CLAIMS, set.metadata.namespace ?? '', claimName(set, template, ordinal));
    if (claim) await world.remove(CLAIMS, claim);
  }
}

function claimName(set: KubeObject, template: KubeObject, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
}

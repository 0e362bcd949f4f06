/**
 * The claim on a namespace: a ConfigMap that is made once, by whoever comes first, and remembers what must not move while the cluster lives: its
 * versions and how it is reached. The only state of the provisioner, and it is kept where the cluster is.
 */
import type { KubeObject } from '../../api/object.ts';
import { isAlreadyExists, keyOf, type ObjectStore } from '../../kube/index.ts';
import * as host from './host-resources.ts';
import { FIELD_MANAGER, ownerOf } from './marks.ts';
import { claimObject, namespaceObject } from './objects.ts';
import { type Reach, reachData, reachFrom } from './reach.ts';
import type { Place, Survey } from './survey.ts';

export interface Claim {
  vcluster: string;
  /** `v1.35.0`: the last one that has run here, for its data does not go back; empty before the first. */
  kubernetesVersion: string;
  vclusterVersion: string;
  reach: Reach;
}

export function readClaim(object: KubeObject | undefined): Partial<Claim> & { reach: Reach } {
  const { vcluster, kubernetesVersion, vclusterVersion } = (object?.data ?? {}) as Record<string, string | undefined>;
  return { vcluster, kubernetesVersion: kubernetesVersion || undefined, vclusterVersion, reach: reachFrom(object) };
}

/** Intent before effect: the namespace and the claim carry our id before anything else is there. False: somebody else was faster. */
export async function writeClaim(
  store: ObjectStore,
  place: Place,
  found: Survey,
  { reach, ...claim }: Claim,
  signal?: AbortSignal,
): Promise<boolean> {
  const data: Record<string, string> = { ...claim, ...reachData(reach) };
  if (found.claim && ownerOf(found.claim) === place.id) {
    await changeClaim(store, found.claim, data, signal);
    return true;
  }
  if (!found.namespace && !(await created(store, namespaceObject(place), signal))) return false;
  return await created(store, claimObject(place, data), signal);
}

/** Written only when it differs. */
export async function changeClaim(
  store: ObjectStore,
  claim: KubeObject,
  data: Record<string, string>,
  signal?: AbortSignal,
): Promise<void> {
  const known = (claim.data ?? {}) as Record<string, string>;
  if (Object.entries(data).every(([key, value]) => (known[key] ?? '') === value)) return;
  const patch = { type: 'merge' as const, body: { data } };
  await store.patch(host.configMaps, keyOf(claim), patch, { fieldManager: FIELD_MANAGER, signal });
}

async function created(
  store: ObjectStore,
  { resource, object }: ReturnType<typeof claimObject>,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await store.create(resource, object, { fieldManager: FIELD_MANAGER, signal });
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return false;
  }
}

/** Which pods of a node have to go before the node does, which are waited for, and which stay. */
import type { KubeObject } from '../../../../api/object.ts';
import { controllerOf, ignoreNotFound, listAll, type ObjectStore, type ResourceRef } from '../../../../kube/index.ts';
import { LABEL } from '../../names.ts';

export const pods: ResourceRef = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const daemonSets: ResourceRef = {
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
};
const MIRROR = 'kubernetes.io/config.mirror';

export type Treatment = 'evict' | 'wait' | 'ignore';

export interface PodOnNode {
  pod: KubeObject;
  treatment: Treatment;
}

export interface PodQuery {
  api: ObjectStore;
  node: string;
  /** The node cannot be reached: pods that should be gone for so long never will be. */
  ignoreDeletedBefore?: number;
  signal?: AbortSignal;
}

/** All pods of the node, by name. */
export async function podsOnNode(query: PodQuery): Promise<PodOnNode[]> {
  const { api, node, signal } = query;
  const found: KubeObject[] = (await listAll(api, pods, { fieldSelector: `spec.nodeName=${node}`, signal })).items;
  const treated = await Promise.all(found.map(async (pod) => ({ pod, treatment: await treatmentOf(pod, query) })));
  return treated.sort((a, b) => (podName(a.pod) < podName(b.pod) ? -1 : 1));
}

async function treatmentOf(pod: KubeObject, { api, ignoreDeletedBefore, signal }: PodQuery): Promise<Treatment> {
  const { deletionTimestamp, annotations, labels, namespace } = pod.metadata;
  if (ignoreDeletedBefore !== undefined && Date.parse(deletionTimestamp ?? '') < ignoreDeletedBefore) return 'ignore';
  if (annotations?.[MIRROR] !== undefined) return 'ignore';
  const owner = controllerOf(pod);
  if (owner?.kind === 'DaemonSet' && !isFinished(pod)) {
    // It would be made again on this node at once; one whose DaemonSet is gone would not.
    const set = await api.get(daemonSets, { namespace, name: owner.name }, { signal }).catch(ignoreNotFound);
    if (set) return 'ignore';
  }
  const wish = labels?.[LABEL.drain]?.toLowerCase().replace('-', '');
  if (wish === 'skip') return 'ignore';
  return wish === 'waitcompleted' ? 'wait' : 'evict';
}

function isFinished(pod: KubeObject): boolean {
  return ['Succeeded', 'Failed'].includes(pod.status?.phase);
}

export function podName({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

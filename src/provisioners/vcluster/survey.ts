/** What there is in the place where a vcluster is or shall be, and whose it is. */
import type { KubeObject } from '../../api/object.ts';
import { ignoreNotFound, isForbidden, type ObjectStore } from '../../kube/index.ts';
import * as host from './host-resources.ts';
import { CLAIM, namespaceOf, ownerOf, type VclusterSpec } from './marks.ts';

export interface Place {
  id: string;
  name: string;
  namespace: string;
}

export interface Survey {
  namespace?: KubeObject;
  claim?: KubeObject;
  statefulSet?: KubeObject;
  service?: KubeObject;
  /** We made the namespace, and it goes with the cluster. */
  isNamespaceOurs: boolean;
  /** Why the place is not ours to use. */
  foreign?: string;
}

export const placeOf = (ref: { id: string; spec: VclusterSpec }): Place => ({
  id: ref.id,
  name: ref.spec.clusterName,
  namespace: namespaceOf(ref.spec),
});

export async function survey(store: ObjectStore, place: Place, signal?: AbortSignal): Promise<Survey> {
  const { id, name, namespace } = place;
  const get = (resource: Parameters<ObjectStore['get']>[0], object: string) =>
    store
      .get(resource, { name: object, ...(resource.namespaced ? { namespace } : {}) }, { signal })
      .catch(ignoreNotFound);
  const [found, claim, statefulSet, service] = await Promise.all([
    // Who may work in one namespace only may not see the namespace itself.
    get(host.namespaces, namespace).catch((error) => {
      if (!isForbidden(error)) throw error;
      return undefined;
    }),
    get(host.configMaps, CLAIM),
    get(host.statefulSets, name),
    get(host.services, name),
  ]);
  const result: Survey = { namespace: found, claim, statefulSet, service, isNamespaceOurs: ownerOf(found) === id };
  const others = [found, claim].filter((object) => ownerOf(object) && ownerOf(object) !== id);
  if (others.length > 0) {
    result.foreign = `namespace ${namespace} of the host belongs to another object of Rookery (uid ${ownerOf(others[0])})`;
  } else if (ownerOf(claim) !== id && found) {
    result.foreign = await otherVcluster(store, place, signal);
  }
  const taken = [statefulSet, service].find((object) => object && ownerOf(object) !== id);
  if (taken) result.foreign ??= `${taken.kind} ${name} in namespace ${namespace} of the host is not ours`;
  return result;
}

/** Two vclusters in one namespace would take each other's pods for their own. */
async function otherVcluster(store: ObjectStore, place: Place, signal?: AbortSignal): Promise<string | undefined> {
  const { id, namespace } = place;
  const found = await Promise.all(
    [host.statefulSets, host.deployments].map((resource) =>
      store.list(resource, { namespace, labelSelector: 'app=vcluster', signal }),
    ),
  );
  const other = found.flatMap(({ items }) => items).find((object) => ownerOf(object) !== id);
  return other && `namespace ${namespace} of the host has a vcluster already: ${other.kind} ${other.metadata.name}`;
}

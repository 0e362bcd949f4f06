/** Everything with our mark in the host clusters that are known, whoever owns it. */
import type { ObjectStore, ResourceRef } from '../../kube/index.ts';
import { isForbidden } from '../../kube/index.ts';
import type { ClusterRef, FoundThing } from '../provisioner.ts';
import type { HostAccess, HostClusters } from './host-clusters.ts';
import * as host from './host-resources.ts';
import { OWNER_LABEL, ownerOf, type VclusterSpec } from './marks.ts';
import { textOf } from './removal.ts';

const KINDS = [
  host.namespaces,
  host.configMaps,
  host.statefulSets,
  host.services,
  host.secrets,
  host.serviceAccounts,
  host.roles,
  host.roleBindings,
  host.claims,
  host.clusterRoles,
  host.clusterRoleBindings,
] as const satisfies ResourceRef[];

type Ref = ClusterRef<VclusterSpec>;

export async function takeInventory(
  hosts: Pick<HostClusters, 'of'>,
  known: readonly Ref[],
  signal?: AbortSignal,
): Promise<FoundThing<VclusterSpec>[]> {
  const byHost = new Map<string, Ref>();
  for (const ref of known) {
    const { kubeconfig } = (ref.access ?? {}) as HostAccess;
    if (kubeconfig) byHost.set(kubeconfig, byHost.get(kubeconfig) ?? ref);
  }
  const found = await Promise.all(
    [...byHost.values()].map(async (ref) => inHost(await hosts.of(ref), ref, known, signal)),
  );
  return found.flat().sort((a, b) => `${a.ref.id} ${a.what}`.localeCompare(`${b.ref.id} ${b.what}`));
}

async function inHost(store: ObjectStore, like: Ref, known: readonly Ref[], signal?: AbortSignal) {
  const lists = await Promise.all(
    KINDS.map((resource) =>
      store.list(resource, { labelSelector: OWNER_LABEL, signal }).catch((error) => {
        if (isForbidden(error)) return { items: [] };
        throw error;
      }),
    ),
  );
  const objects = lists.flatMap(({ items }) => items);
  const names = new Map(
    objects.map((o) => [ownerOf(o), o.metadata.labels?.release] as const).filter(([, name]) => name),
  );
  return objects.flatMap((object): FoundThing<VclusterSpec>[] => {
    const id = ownerOf(object) as string;
    const owner = known.find((ref) => ref.id === id);
    const name = owner?.spec.clusterName ?? object.data?.vcluster ?? names.get(id);
    const namespace = object.kind === 'Namespace' ? object.metadata.name : object.metadata.namespace;
    // Outside of namespaces: the rest of its cluster says where that is.
    const home = namespace ?? objects.find((o) => ownerOf(o) === id && o.metadata.namespace)?.metadata.namespace;
    const spec = owner?.spec ?? { host: like.spec.host, clusterName: name ?? id, ...(home ? { namespace: home } : {}) };
    const { access, place } = like;
    return [{ ref: { id, name: spec.clusterName, spec, access, place }, what: textOf(object) }];
  });
}

/** `rookery cluster list` */
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { getCondition, isConditionTrue, isDeleting, listAll, type ObjectStore } from '../kube/index.ts';
import { clusterWays } from '../provisioners/registry.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, columns, print } from './output.ts';
import { wayOf } from './ways.ts';

interface ListOptions extends GlobalOptions {
  namespace: string;
  allNamespaces?: boolean;
}

export async function listClusters(options: ListOptions): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const selection = options.allNamespaces ? {} : { namespace: options.namespace };
    const { items } = await listAll(store, clusters, selection);
    const providers = options.output === 'table' ? await providersOf(store, items, selection) : new Map();
    await print(options.output, items, (found) => {
      if (found.length === 0) return 'no clusters; make one with `rookery cluster create <name>`\n';
      const header = ['NAME', 'STATE', 'PROVISIONER', 'FIDELITY', 'VERSION', 'NODES', 'AGE'];
      const rows = found.map((cluster) => row(cluster, providers.get(cluster.metadata.uid), Date.now()));
      if (!options.allNamespaces) return columns(header, rows);
      return columns(
        ['NAMESPACE', ...header],
        rows.map((cells, i) => [found[i]?.metadata.namespace ?? '', ...cells]),
      );
    });
  } finally {
    await close();
  }
}

/** The objects that ask for these clusters, by the uid of the cluster: one list for each way that is in use. */
async function providersOf(
  store: ObjectStore,
  found: KubeObject[],
  selection: { namespace?: string },
): Promise<Map<string | undefined, KubeObject>> {
  const known = new Map<string, KubeObject>();
  const id = (kind: string, namespace: string | undefined, name: string | undefined) => `${kind} ${namespace}/${name}`;
  for (const way of clusterWays.filter((candidate) => found.some((cluster) => wayOf(cluster) === candidate))) {
    const { items } = await listAll(store, way.resource, selection);
    for (const item of items) known.set(id(item.kind, item.metadata.namespace, item.metadata.name), item);
  }
  return new Map(
    found.flatMap((cluster) => {
      const reference = cluster.spec?.infrastructureRef;
      const provider = known.get(id(reference?.kind, cluster.metadata.namespace, reference?.name));
      return provider ? [[cluster.metadata.uid, provider] as const] : [];
    }),
  );
}

function row(cluster: KubeObject, provider: KubeObject | undefined, now: number): string[] {
  const { name = '', creationTimestamp } = cluster.metadata;
  const way = wayOf(cluster);
  const nodes: { ready?: boolean }[] | undefined = provider?.status?.nodes;
  return [
    name,
    stateOf(cluster),
    way?.name ?? cluster.spec?.infrastructureRef?.kind ?? '<none>',
    way?.fidelity ?? '<unknown>',
    provider?.status?.version ?? '',
    nodes ? `${nodes.filter((node) => node.ready).length}/${nodes.length}` : '',
    age(creationTimestamp ?? undefined, now),
  ];
}

export function stateOf(cluster: KubeObject): string {
  if (isDeleting(cluster)) return 'Deleting';
  if (isConditionTrue(cluster, 'Available')) return 'Ready';
  if (getCondition(cluster, 'InfrastructureReady')?.reason === 'Suspended') return 'Suspended';
  return cluster.status?.phase ?? 'Pending';
}

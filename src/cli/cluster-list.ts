/** `rookery cluster list` */
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { isConditionTrue, isDeleting, listAll } from '../kube/index.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, columns, print } from './output.ts';

interface ListOptions extends GlobalOptions {
  namespace: string;
  allNamespaces?: boolean;
}

export async function listClusters(options: ListOptions): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const selection = options.allNamespaces ? {} : { namespace: options.namespace };
    const { items } = await listAll(store, clusters, selection);
    await print(options.output, items, (found) => {
      if (found.length === 0) return 'no clusters; make one with `rookery cluster create <name>`\n';
      const header = ['NAME', 'STATE', 'PROVISIONER', 'AGE'];
      const rows = found.map((cluster) => row(cluster, Date.now()));
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

function row(cluster: KubeObject, now: number): string[] {
  const { name = '', creationTimestamp } = cluster.metadata;
  const kind = cluster.spec?.infrastructureRef?.kind ?? '<none>';
  return [name, stateOf(cluster), kind, age(creationTimestamp ?? undefined, now)];
}

export function stateOf(cluster: KubeObject): string {
  if (isDeleting(cluster)) return 'Deleting';
  return isConditionTrue(cluster, 'Available') ? 'Ready' : (cluster.status?.phase ?? 'Pending');
}

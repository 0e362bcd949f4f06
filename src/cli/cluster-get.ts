/** `rookery cluster get` */
import type { Condition, KubeObject } from '../api/object.ts';
import { getConditions, ignoreNotFound } from '../kube/index.ts';
import { stateOf } from './cluster-list.ts';
import { findCluster } from './cluster-lookup.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, columns, print } from './output.ts';
import { wayOf } from './ways.ts';

export async function getCluster(options: GlobalOptions & { namespace: string }, name: string): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const { namespace } = options;
    const cluster = await findCluster(store, namespace, name);
    const way = wayOf(cluster);
    const key = { namespace, name: cluster.spec?.infrastructureRef?.name };
    const provider = way && (await store.get(way.resource, key).catch(ignoreNotFound));
    await print(options.output, cluster, (found) => described(found, provider));
  } finally {
    await close();
  }
}

function described(cluster: KubeObject, provider: KubeObject | undefined): string {
  const { name, namespace, creationTimestamp } = cluster.metadata;
  const endpoint = cluster.spec?.controlPlaneEndpoint;
  const way = wayOf(cluster);
  const nodes: { name: string; role?: string; ready?: boolean }[] = provider?.status?.nodes ?? [];
  const facts = [
    ['Name', `${namespace}/${name}`],
    ['State', stateOf(cluster)],
    ['Provisioner', way ? `${way.name} (${way.about})` : (cluster.spec?.infrastructureRef?.kind ?? '<none>')],
    ['Fidelity', provider?.status?.fidelity ?? way?.fidelity ?? '<unknown>'],
    ['Version', provider?.status?.version ?? '<none yet>'],
    ['Endpoint', endpoint?.host ? `${endpoint.host}:${endpoint.port}` : '<none yet>'],
    ['Age', age(creationTimestamp ?? undefined, Date.now())],
  ];
  const conditions = getConditions(cluster).map((c: Condition) => [
    c.type,
    c.status,
    c.reason,
    age(c.lastTransitionTime, Date.now()),
    c.message.replaceAll('\n', ' '),
  ]);
  const head = facts.map(([label, value]) => `${`${label}:`.padEnd(14)}${value}\n`).join('');
  const table = columns(['CONDITION', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'], conditions);
  const members = columns(
    ['NODE', 'ROLE', 'READY'],
    nodes.map((node) => [node.name, node.role ?? '', node.ready ? 'yes' : 'no']),
  );
  return [head, table, ...(nodes.length > 0 ? [members] : [])].join('\n');
}

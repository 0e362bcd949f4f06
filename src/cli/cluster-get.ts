/** `rookery cluster get` */
import type { Condition, KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { getConditions, isNotFound } from '../kube/index.ts';
import { stateOf } from './cluster-list.ts';
import { missing } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, columns, print } from './output.ts';

export async function getCluster(options: GlobalOptions & { namespace: string }, name: string): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const cluster = await store.get(clusters, { namespace: options.namespace, name }).catch((error) => {
      throw isNotFound(error) ? missing(options.namespace, name) : error;
    });
    await print(options.output, cluster, described);
  } finally {
    await close();
  }
}

function described(cluster: KubeObject): string {
  const { name, namespace, creationTimestamp } = cluster.metadata;
  const endpoint = cluster.spec?.controlPlaneEndpoint;
  const facts = [
    ['Name', `${namespace}/${name}`],
    ['State', stateOf(cluster)],
    ['Provisioner', cluster.spec?.infrastructureRef?.kind ?? '<none>'],
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
  return `${head}\n${columns(['CONDITION', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'], conditions)}`;
}

/** What the core's reconcilers look up in each other's caches, and by what. */
import type { KubeObject } from '../../api/object.ts';
import { clusters, machineDeployments, machineHealthChecks, machineSets, machines } from '../../api/resources.ts';
import type { Informer, Informers, ObjectKey, ObjectStore, ResourceRef } from '../../kube/index.ts';
import { referenceText } from './externals.ts';
import { LABEL } from './names.ts';
import { kindText, type Reference } from './provider-kinds.ts';

export type Caches = ReturnType<typeof makeCaches>;

export function makeCaches(informers: Informers) {
  const caches = {
    clusters: informers.for(clusters),
    machines: informers.for(machines),
    machineSets: informers.for(machineSets),
    machineDeployments: informers.for(machineDeployments),
    machineHealthChecks: informers.for(machineHealthChecks),
  };
  indexReferences(caches.clusters, ({ spec }) => [spec?.infrastructureRef, spec?.controlPlaneRef]);
  indexReferences(caches.machines, ({ spec }) => [spec?.infrastructureRef, spec?.bootstrap?.configRef]);
  for (const pool of [caches.machineSets, caches.machineDeployments]) {
    indexReferences(pool, ({ spec }) => [
      spec?.template?.spec?.infrastructureRef,
      spec?.template?.spec?.bootstrap?.configRef,
    ]);
  }
  // Health checks refer to nobody.
  indexReferences(caches.machineHealthChecks, () => []);
  for (const cache of [caches.machines, caches.machineSets, caches.machineDeployments, caches.machineHealthChecks]) {
    cache.addIndex('cluster', ({ metadata, spec }) => [`${metadata.namespace}/${spec?.clusterName}`]);
  }
  caches.machines.addIndex('node', ({ metadata, spec, status }) => {
    const cluster = `${metadata.namespace}/${spec?.clusterName}`;
    const values = [];
    if (spec?.providerID) values.push(nodeText(cluster, 'id', spec.providerID));
    if (status?.nodeRef?.name) values.push(nodeText(cluster, 'name', status.nodeRef.name));
    return values;
  });
  caches.machines.addIndex('deployment', ({ metadata }) => {
    const name = metadata.labels?.[LABEL.deploymentName];
    return name ? [`${metadata.namespace}/${name}`] : [];
  });
  return caches;
}

function indexReferences(cache: Informer, of: (object: KubeObject) => (Reference | undefined)[]): void {
  cache.addIndex('reference', (object) => {
    const references = of(object).filter((reference) => reference !== undefined);
    return [...new Set(references.map((reference) => referenceText(reference, object.metadata.namespace)))];
  });
  cache.addIndex('kind', (object) => {
    const references = of(object).filter((reference) => reference !== undefined);
    return [...new Set(references.map(kindText))];
  });
}

/** Machines of a node of a cluster. */
export function machinesOfNode(caches: Caches, cluster: ObjectKey, node: KubeObject): KubeObject[] {
  const text = `${cluster.namespace}/${cluster.name}`;
  const byName = caches.machines.byIndex('node', nodeText(text, 'name', node.metadata.name ?? ''));
  if (byName.length > 0 || !node.spec?.providerID) return byName;
  return caches.machines.byIndex('node', nodeText(text, 'id', node.spec.providerID));
}

function nodeText(cluster: string, by: 'id' | 'name', value: string): string {
  return `${cluster} ${by} ${value}`;
}

export function ofCluster(cache: Informer, cluster: KubeObject): KubeObject[] {
  return cache.byIndex('cluster', `${cluster.metadata.namespace}/${cluster.metadata.name}`);
}

/** Straight from the server: for decisions that a cache a moment behind would get wrong. */
export async function listOfCluster(
  store: ObjectStore,
  resource: ResourceRef,
  cluster: { metadata: KubeObject['metadata'] },
  signal?: AbortSignal,
): Promise<KubeObject[]> {
  const { namespace, name } = cluster.metadata;
  const labelSelector = `${LABEL.clusterName}=${name}`;
  return (await store.list(resource, { namespace, labelSelector, signal })).items;
}

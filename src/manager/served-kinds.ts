/** Which kinds a manager works with, and whether Cluster API's own core drives them. */
import {
  clusters,
  customResourceDefinitions,
  machineDeployments,
  machineHealthChecks,
  machineSets,
  machines,
} from '../api/resources.ts';
import { OUR_CORE_LABEL } from '../controllers/core/names.ts';
import { ignoreNotFound, type ObjectStore, type ResourceRef } from '../kube/index.ts';
import { clusterWays } from '../provisioners/registry.ts';
import { crdName } from './crds.ts';

/** Kinds that ask for clusters: those this program is a provider of. */
export const providerKinds: readonly ResourceRef[] = clusterWays.map((way) => way.resource);

/** Cluster API's own kinds, where our core drives them. */
export const coreKinds: readonly ResourceRef[] = [
  clusters,
  machines,
  machineSets,
  machineDeployments,
  machineHealthChecks,
];

/** By its CRDs: those that came with us say so. */
export async function hasUpstreamCore(store: ObjectStore, signal?: AbortSignal): Promise<boolean> {
  const key = { name: crdName(clusters) };
  const crd = await store.get(customResourceDefinitions, key, { signal }).catch(ignoreNotFound);
  return crd !== undefined && crd.metadata.labels?.[OUR_CORE_LABEL] === undefined;
}

/**
 * Any kind whose cluster a provisioner makes (`KINDCluster`, `K3dCluster`, …), with or without a `Cluster` over it. Each meets the InfraCluster and
 * the ControlPlane contract of Cluster API and writes `<cluster>-kubeconfig`. No reconcile waits for a tool: it does the next step and comes back.
 */
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import {
  type ControllerOptions,
  exceptStatus,
  type Informers,
  ignoreNotFound,
  isDeleting,
  isPaused,
  type ObjectStore,
} from '../kube/index.ts';
import type { HostPolicy } from '../provisioners/host-policy.ts';
import type { Provisioner } from '../provisioners/provisioner.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { kubeconfigSecrets } from './kubeconfig-secret.ts';
import { ownerCluster } from './ownership.ts';
import { ProvisionedClusterScope } from './provisioned-cluster-scope.ts';

const MANAGED_BY = 'cluster.x-k8s.io/managed-by';

export interface ProvisionedClusterOptions<Spec> {
  store: ObjectStore;
  informers: Informers;
  way: ClusterWay;
  host: HostPolicy;
  open(): Promise<Provisioner<Spec>>;
}

export function provisionedClusterController<Spec>(options: ProvisionedClusterOptions<Spec>): ControllerOptions {
  const { store, informers, way, host } = options;
  let opened: Promise<Provisioner<Spec>> | undefined;
  const journaled = new Set<string>();
  const objects = informers.for(way.resource);
  const owners = informers.for(clusters);
  return {
    name: `${way.name}-cluster`,
    resource: way.resource,
    filter: exceptStatus,
    owns: [kubeconfigSecrets],
    watches: [
      {
        resource: clusters,
        // That it is to go is told by whoever deletes its providers: nothing is repaired for that alone.
        filter: (cluster, old) => exceptStatus(cluster, old) && !(old && isDeleting(cluster) && !isDeleting(old)),
        map: (cluster) => {
          const name = referred(cluster, way);
          return name ? [{ namespace: cluster.metadata.namespace, name }] : [];
        },
      },
    ],
    async reconcile(key, context) {
      const { signal } = context;
      const found = await store.get(way.resource, key, { signal }).catch(ignoreNotFound);
      if (!found || found.metadata.annotations?.[MANAGED_BY] !== undefined) return;
      const cluster = await ownerCluster(store, found, signal);
      // Written to before its Cluster has made it its own, the object would get in the way of upstream's core doing so.
      const isClaimed = owners.list(key.namespace).some((other) => referred(other, way) === key.name);
      if (!cluster && isClaimed && !isDeleting(found) && !found.metadata.finalizers?.length) return;
      opened ??= options.open();
      const provisioner = await opened;
      const parts = { store, way, host, provisioner, context, object: found, cluster, journaled };
      const scope = new ProvisionedClusterScope(parts);
      if (isPaused(found, cluster)) return await scope.pause();
      return isDeleting(found) ? await scope.remove() : await scope.ensure(rival(objects.list(), found, way));
    },
  };
}

/** Name of the object of this way that a Cluster refers to. */
function referred(cluster: KubeObject, way: ClusterWay): string | undefined {
  const { infrastructureRef: reference } = cluster.spec ?? {};
  return reference?.kind === way.resource.kind && reference.apiGroup === way.resource.group
    ? reference.name
    : undefined;
}

/** The object that asked for that cluster first, if it was not this one. */
function rival(all: KubeObject[], object: KubeObject, way: ClusterWay): KubeObject | undefined {
  const age = (o: KubeObject) => `${o.metadata.creationTimestamp} ${o.metadata.uid}`;
  return all.find(
    (other) =>
      other.metadata.uid !== object.metadata.uid &&
      way.outsideName(other) === way.outsideName(object) &&
      age(other) < age(object),
  );
}

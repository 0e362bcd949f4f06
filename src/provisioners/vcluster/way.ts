/** vcluster in the table of all ways to make a cluster. */
import type { KubeObject } from '../../api/object.ts';
import { clusters, secrets, vclusters } from '../../api/resources.ts';
import { RookeryError } from '../../errors.ts';
import { ignoreNotFound, type ObjectStore } from '../../kube/index.ts';
import type { ClusterWay } from '../registry.ts';
import type { HostAccess } from './host-clusters.ts';
import { namespaceOf, type VclusterSpec } from './marks.ts';

export const vclusterWay: ClusterWay = {
  name: 'vcluster',
  resource: vclusters,
  fidelity: 'virtual',
  about: 'vcluster, pods run in its host cluster',
  patienceSeconds: 600,
  outsideName: ({ spec, metadata }) =>
    `${hostName(spec as VclusterSpec, metadata.namespace)}/${namespaceOf(spec as VclusterSpec)}`,
  spec: ({ kubernetesVersion, image, nodes, controlPlanes, host }, { namespace, name }) => {
    if (image !== undefined) throw notForVcluster('--image', 'choose with --kubernetes-version, or spec.images');
    if (nodes !== undefined) throw notForVcluster('--nodes', 'its nodes are those of its host');
    if (controlPlanes !== undefined) throw notForVcluster('--control-planes', 'it has one');
    if (!host) throw notForVcluster('no --host', 'name the cluster it shall live in; see `rookery cluster list`');
    return {
      host: { cluster: host },
      // Two of one name may exist here in two namespaces, and go into one host.
      clusterName: namespace === 'default' ? name : `${namespace}-${name}`,
      ...(kubernetesVersion ? { kubernetesVersion } : {}),
    };
  },
  access: async (store, object, signal) => ({ ...(await hostAccess(store, object, signal)) }),
  open: async (parts) => new (await import('./vcluster-provisioner.ts')).VclusterProvisioner(parts),
};

async function hostAccess(store: ObjectStore, object: KubeObject, signal?: AbortSignal): Promise<HostAccess> {
  const { namespace } = object.metadata;
  const { host } = object.spec as VclusterSpec;
  const cluster = host.cluster;
  const found = cluster && (await store.get(clusters, { namespace, name: cluster }, { signal }).catch(ignoreNotFound));
  if (cluster && !found) return { gone: `there is no Cluster ${namespace}/${cluster}` };
  const { name, key } = host.kubeconfigSecretRef ?? { name: `${cluster}-kubeconfig`, key: 'value' };
  const secret = await store.get(secrets, { namespace, name }, { signal }).catch(ignoreNotFound);
  const data = secret?.data?.[key];
  if (!data) return { missing: `the Secret ${namespace}/${name} with the kubeconfig of the host has no ${key} yet` };
  const isSimulated = found && found.spec?.infrastructureRef?.kind === 'VirtualCluster';
  return {
    kubeconfig: Buffer.from(data, 'base64').toString(),
    ...(isSimulated ? { unfit: `Cluster ${namespace}/${cluster} is simulated: nothing can run there` } : {}),
  };
}

function hostName({ host }: VclusterSpec, namespace = ''): string {
  const { name, key } = host.kubeconfigSecretRef ?? { name: '', key: '' };
  return host.cluster ? `${namespace}/${host.cluster}` : `${namespace}/secret/${name}/${key}`;
}

function notForVcluster(what: string, hint: string): RookeryError {
  return new RookeryError('cli.flag', `${what} does not go with a vcluster`, { class: 'user', hint });
}

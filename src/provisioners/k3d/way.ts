/** k3d in the table of all ways to make a cluster. */
import { k3dClusters, secrets } from '../../api/resources.ts';
import { RookeryError } from '../../errors.ts';
import { ignoreNotFound } from '../../kube/index.ts';
import type { ClusterWay } from '../registry.ts';
import { networkName } from './config.ts';
import { k3dHostUses } from './host-uses.ts';

export const k3dWay: ClusterWay = {
  name: 'k3d',
  resource: k3dClusters,
  fidelity: 'container',
  about: 'k3d, k3s in containers',
  patienceSeconds: 600,
  outsideName: (object) => object.spec?.clusterName,
  spec: ({ kubernetesVersion, image, nodes, controlPlanes, host }, { namespace, name }) => {
    if (host !== undefined) {
      const hint = 'k3d makes containers on this machine; for another one use --provisioner k3s';
      throw new RookeryError('cli.flag', '--host does not go with k3d clusters', { class: 'user', hint });
    }
    const servers = controlPlanes ?? 1;
    return {
      // Names of k3d clusters know no namespaces: two of one name may exist here, but not there.
      clusterName: namespace === 'default' ? name : `${namespace}-${name}`,
      ...(controlPlanes === undefined ? {} : { servers }),
      ...(nodes === undefined ? {} : { agents: Math.max(0, nodes - servers) }),
      ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
      ...(image === undefined ? {} : { image }),
    };
  },
  async access(store, object, signal): Promise<Record<string, string>> {
    const reference: { name: string; key: string } | undefined = object.spec?.registryConfigSecret;
    if (!reference) return {};
    const { namespace } = object.metadata;
    const secret = await store.get(secrets, { namespace, name: reference.name }, { signal }).catch(ignoreNotFound);
    const text: string | undefined = secret?.data?.[reference.key];
    if (text !== undefined) return { registryConfig: Buffer.from(text, 'base64').toString() };
    // A cluster can go although the secret went before it.
    if (object.metadata.deletionTimestamp) return {};
    const what = secret ? `has no key ${reference.key}` : 'does not exist';
    throw new RookeryError('secret.missing', `the Secret ${namespace}/${reference.name} ${what}`, {
      class: 'retryable',
      hint: 'registryConfigSecret names it: make it, or correct the reference',
    });
  },
  hostUses: k3dHostUses,
  network: (object) => networkName(object.spec?.clusterName),
  open: async (parts) => new (await import('./k3d-provisioner.ts')).K3dProvisioner(parts),
};

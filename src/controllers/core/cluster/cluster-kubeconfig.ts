/**
 * The kubeconfig Secret of a Cluster whose control plane nobody runs for it: made from its CA, once there is an
 * address. Where there is a controlPlaneRef, that provider writes it.
 */
import type { KubeObject } from '../../../api/object.ts';
import { secrets } from '../../../api/resources.ts';
import { ignoreNotFound, isAlreadyExists, ownerReference } from '../../../kube/index.ts';
import { issueClient } from '../../../vault/certificates.ts';
import { LABEL } from '../names.ts';
import { type ClusterScope, hasEndpoint } from './cluster-scope.ts';

/** True when it has to be tried again: there is no CA yet. */
export async function reconcileKubeconfig(scope: ClusterScope): Promise<boolean> {
  const { core, cluster, draft, signal } = scope;
  if (cluster.spec?.controlPlaneRef || !hasEndpoint(draft)) return false;
  const { namespace, name } = cluster.metadata;
  const read = (suffix: string) =>
    core.store.get(secrets, { namespace, name: `${name}-${suffix}` }, { signal }).catch(ignoreNotFound);
  if (await read('kubeconfig')) return false;
  const ca = await read('ca');
  if (!ca) return true;
  try {
    await core.store.create(secrets, kubeconfigSecret(scope, draft, ca), { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  return false;
}

function kubeconfigSecret({ core, cluster }: ClusterScope, draft: KubeObject, ca: KubeObject): KubeObject {
  const { namespace, name = '' } = cluster.metadata;
  const pem = (key: string) => Buffer.from(ca.data?.[key] ?? '', 'base64').toString();
  const caPair = { cert: pem('tls.crt'), key: pem('tls.key') };
  const client = issueClient(caPair, 'kubernetes-admin', ['system:masters'], {
    clock: core.clock,
    random: core.random,
  });
  const { host, port } = draft.spec.controlPlaneEndpoint;
  const address = host.includes(':') ? `[${host}]` : host;
  const user = `${name}-admin`;
  const context = `${user}@${name}`;
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  // JSON is YAML.
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: { server: `https://${address}:${port}`, 'certificate-authority-data': encoded(caPair.cert) },
      },
    ],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': encoded(client.cert), 'client-key-data': encoded(client.key) },
      },
    ],
    contexts: [{ name: context, context: { cluster: name, user } }],
    'current-context': context,
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${name}-kubeconfig`,
      namespace,
      labels: { [LABEL.clusterName]: name },
      ownerReferences: [ownerReference(cluster)],
    },
    type: 'cluster.x-k8s.io/secret',
    data: { value: encoded(JSON.stringify(kubeconfig, null, 2)) },
  };
}

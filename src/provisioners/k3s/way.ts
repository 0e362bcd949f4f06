/** k3s in the table of all ways to make a cluster. */
import type { K3sCluster } from '../../api/infrastructure/k3s-cluster.ts';
import { k3sClusters, secrets } from '../../api/resources.ts';
import { RookeryError } from '../../errors.ts';
import { ignoreNotFound } from '../../kube/index.ts';
import type { ClusterWay } from '../registry.ts';
import { k3sHostUses } from './host-uses.ts';
import { SSH_KEY } from './ssh-key.ts';

export const k3sWay: ClusterWay = {
  name: 'k3s',
  resource: k3sClusters,
  fidelity: 'machine',
  about: 'k3s on a Linux machine given to it',
  patienceSeconds: 600,
  // One machine has one cluster, whoever logs in there.
  outsideName: (object) => {
    const { ssh } = (object.spec as K3sCluster['spec']).host ?? {};
    return ssh ? `${ssh.address}:${ssh.port ?? 22}` : 'this machine';
  },
  spec: ({ kubernetesVersion, image, nodes, controlPlanes, host }, { name }) => {
    if (image !== undefined) throw notForK3s('--image', 'choose with --kubernetes-version, or spec.binary');
    if ((nodes ?? 1) !== 1 || (controlPlanes ?? 1) !== 1) throw notForK3s('more than one node', 'it has one machine');
    return {
      // Without one it is this machine.
      ...(host ? { host: { ssh: { ...targetOf(host), keySecretRef: { name: `${name}-ssh-key` } } } } : {}),
      ...(kubernetesVersion ? { kubernetesVersion } : {}),
    };
  },
  hostUses: k3sHostUses,
  access: async (store, object, signal): Promise<Record<string, string>> => {
    const { ssh } = (object.spec as K3sCluster['spec']).host ?? {};
    if (!ssh) return {};
    const { name, key } = ssh.keySecretRef;
    const { namespace } = object.metadata;
    const secret = await store.get(secrets, { namespace, name }, { signal }).catch(ignoreNotFound);
    const data = secret?.data?.[key ?? 'ssh-privatekey'];
    // Without a key the machine cannot be reached, and the provisioner says which Secret lacks it.
    return data ? { [SSH_KEY]: Buffer.from(data, 'base64').toString('utf8') } : {};
  },
  open: async (parts) => new (await import('./k3s-provisioner.ts')).K3sProvisioner(parts),
};

/** `user@address:port`, `address`, `[2001:db8::7]:22`. */
function targetOf(text: string): { user?: string; address: string; port?: number } {
  const found = /^(?:([^@]+)@)?(?:\[([^\]]+)\]|([^:@]+|[^@]*:[^@]*:[^@]*))(?::(\d+))?$/.exec(text);
  const address = found?.[2] ?? found?.[3];
  if (!found || !address) {
    throw new RookeryError('cli.host', `${JSON.stringify(text)} names no machine`, {
      class: 'user',
      hint: 'write it as address, user@address or user@address:port',
    });
  }
  return { ...(found[1] ? { user: found[1] } : {}), address, ...(found[4] ? { port: Number(found[4]) } : {}) };
}

function notForK3s(what: string, hint: string): RookeryError {
  return new RookeryError('cli.flag', `${what} does not go with k3s on a machine`, { class: 'user', hint });
}

/** `rookery cluster create` */
import type { KubeObject } from '../api/object.ts';
import { RookeryError } from '../errors.ts';
import { getCondition, isAlreadyExists, type ObjectStore } from '../kube/index.ts';
import { requestKindCluster } from '../provisioners/kind/manifests.ts';
import { requestVirtualCluster } from '../provisioners/virtual/manifests.ts';
import { seconds, waitForCluster, writeKubeconfig } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { print } from './output.ts';

interface CreateOptions extends GlobalOptions {
  namespace: string;
  wait: boolean;
  timeout?: string;
  provisioner: string;
  kubernetesVersion?: string;
  image?: string;
  nodes?: string;
  controlPlanes?: string;
}

interface Way {
  /** Seconds to wait for it. */
  patience: string;
  /** What people get, in a few words. */
  about: string;
  request(store: ObjectStore, options: CreateOptions, name: string): Promise<KubeObject>;
}

const WAYS: Record<string, Way> = {
  virtual: {
    patience: '120',
    about: 'virtual, Kubernetes v1.35, simulated nodes',
    request(store, options, name) {
      for (const flag of ['kubernetesVersion', 'image', 'nodes', 'controlPlanes'] as const) {
        if (options[flag] !== undefined) throw notForVirtual(flag);
      }
      return requestVirtualCluster(store, options.namespace, name);
    },
  },
  kind: {
    patience: '900',
    about: 'kind, nodes are containers',
    request: (store, options, name) =>
      requestKindCluster(store, options.namespace, name, {
        kubernetesVersion: options.kubernetesVersion,
        image: options.image,
        nodes: count(options.nodes, '--nodes'),
        controlPlanes: count(options.controlPlanes, '--control-planes'),
      }),
  },
};

/** Reasons after which waiting is of no use. */
const REFUSALS = ['NameTaken', 'VersionUnavailable', 'Unresolved'];

export async function createCluster(options: CreateOptions, name: string): Promise<void> {
  const { namespace } = options;
  const way = WAYS[options.provisioner];
  if (!way) throw unknownProvisioner(options.provisioner);
  const timeoutMs = seconds(options.timeout ?? way.patience, '--timeout');
  const { home, store, close } = await connect(options);
  try {
    let cluster = await way.request(store, options, name).catch((error) => {
      if (!isAlreadyExists(error)) throw error;
      throw new RookeryError('cluster.exists', `there is already a cluster ${JSON.stringify(name)}`, {
        class: 'user',
        hint: `see \`rookery cluster get ${name}\`, or choose another name`,
      });
    });
    if (!options.wait) return await print(options.output, cluster, () => `cluster ${name} requested\n`);
    const tell = options.output === 'table' && options.provisioner !== 'virtual' ? progressLines() : () => {};
    cluster = await waitForCluster(store, namespace, name, timeoutMs, (seen) => {
      stopWhenRefused(seen);
      tell(seen);
    });
    const kubeconfig = await writeKubeconfig(home, store, namespace, name);
    await print(options.output, { name, namespace, kubeconfig, cluster }, () =>
      [
        `cluster ${name} is ready (${way.about})`,
        `  export KUBECONFIG=${kubeconfig}`,
        '  kubectl get namespaces',
        '',
      ].join('\n'),
    );
  } finally {
    await close();
  }
}

/** A line on stderr whenever what the cluster waits for changes. */
function progressLines(): (cluster: KubeObject) => void {
  let last = '';
  return (cluster) => {
    const line = getCondition(cluster, 'InfrastructureReady')?.message.split('\n')[0] ?? '';
    if (line && line !== last) process.stderr.write(`  ${line}\n`);
    last = line || last;
  };
}

function stopWhenRefused(cluster: KubeObject): void {
  const condition = getCondition(cluster, 'InfrastructureReady');
  if (!condition || condition.status === 'True' || !REFUSALS.includes(condition.reason)) return;
  const [message = '', ...more] = condition.message.split('\n');
  throw new RookeryError('cluster.refused', message, {
    class: 'user',
    hint: `${more.join(' ').replace(/^Next: /, '')}; remove the request: rookery cluster delete ${cluster.metadata.name}`,
  });
}

function count(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new RookeryError('cli.count', `${flag}: ${JSON.stringify(text)} is not a number above 0`, { class: 'user' });
}

function notForVirtual(flag: string): RookeryError {
  const name = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return new RookeryError('cli.flag', `--${name} does not go with virtual clusters`, {
    class: 'user',
    hint: 'add --provisioner kind for a cluster of containers',
  });
}

function unknownProvisioner(name: string): RookeryError {
  return new RookeryError('cluster.provisioner', `there is no provisioner ${JSON.stringify(name)}`, {
    class: 'user',
    hint: `use one of ${Object.keys(WAYS).join(', ')}; see \`rookery provisioners\``,
  });
}

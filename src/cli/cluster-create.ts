/** `rookery cluster create` */
import { RookeryError } from '../errors.ts';
import { isAlreadyExists } from '../kube/index.ts';
import type { ClusterWay, ClusterWish } from '../provisioners/registry.ts';
import { requestCluster } from '../provisioners/request-cluster.ts';
import { writeKubeconfig } from './cluster-lookup.ts';
import { isReadyNow, waitForCluster, waitForProvider } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { Interrupted } from './interrupt.ts';
import { count, seconds } from './numbers.ts';
import { print } from './output.ts';
import { progressView } from './progress-view.ts';
import { chooseWay } from './ways.ts';

interface CreateOptions extends GlobalOptions {
  namespace: string;
  wait: boolean;
  timeout?: string;
  provisioner: string;
  kubernetesVersion?: string;
  image?: string;
  nodes?: string;
  controlPlanes?: string;
  host?: string;
}

export async function createCluster(options: CreateOptions, name: string): Promise<void> {
  const { namespace, host } = options;
  const key = { namespace, name };
  const wish = wishOf(options);
  const { home, store, url, isHosted, signal, close } = await connect(options);
  try {
    const way = await chooseWay(options.provisioner, home, host);
    const timeoutMs = options.timeout ? seconds(options.timeout, '--timeout') : way.patienceSeconds * 1000;
    const end = Date.now() + timeoutMs;
    const requested = await requestCluster(store, way, key, wish).catch((error) => {
      throw isAlreadyExists(error) ? exists(name) : error;
    });
    if (!options.wait) return await print(options.output, requested, () => requestedText(name, isHosted));
    const view = progressView({ title: `${name} (${way.name})`, output: options.output });
    const what = `cluster ${name} to be ready`;
    const provider = await waitForProvider(store, way, key, isReadyNow, { timeoutMs, signal, view, what });
    const cluster = await waitForCluster(store, key, { timeoutMs: Math.max(1000, end - Date.now()), signal });
    const kubeconfig = await writeKubeconfig(home, { store, url }, namespace, name);
    const { fidelity } = way;
    const { version } = provider.status ?? {};
    await print(
      options.output,
      { name, namespace, provisioner: way.name, fidelity, version, kubeconfig, cluster },
      () => readyText(name, way, version, kubeconfig, isHosted),
    );
  } catch (error) {
    throw error instanceof Interrupted ? new Interrupted(goOn(name)) : error;
  } finally {
    await close();
  }
}

function wishOf(options: CreateOptions): ClusterWish {
  const { kubernetesVersion, image, host } = options;
  const nodes = count(options.nodes, '--nodes');
  const controlPlanes = count(options.controlPlanes, '--control-planes');
  if (controlPlanes && nodes && controlPlanes > nodes) {
    throw new RookeryError('cli.count', `--control-planes ${controlPlanes} of --nodes ${nodes} are too many`, {
      class: 'user',
      hint: '--nodes counts all of them',
    });
  }
  return { kubernetesVersion, image, host, nodes, controlPlanes };
}

function readyText(name: string, way: ClusterWay, version: string | undefined, kubeconfig: string, isHosted: boolean) {
  const lines = [
    `cluster ${name} is ready: ${way.fidelity} (${way.about})${version ? `, Kubernetes ${version}` : ''}`,
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl get namespaces',
  ];
  if (isHosted && way.fidelity === 'simulated') {
    lines.push('It answers only while a control plane runs: start one with `rookery up --detach`.');
  }
  return `${lines.join('\n')}\n`;
}

function requestedText(name: string, isHosted: boolean): string {
  if (!isHosted) return `cluster ${name} requested\n`;
  return `cluster ${name} requested; it is made while a control plane runs: start one with \`rookery up --detach\`\n`;
}

function goOn(name: string): string {
  return (
    `the request stands: \`rookery up --detach\` goes on with it, \`rookery why ${name}\` says where it is, ` +
    `\`rookery cluster delete ${name}\` removes it`
  );
}

function exists(name: string): RookeryError {
  return new RookeryError('cluster.exists', `there is already a cluster ${JSON.stringify(name)}`, {
    class: 'user',
    hint: `see \`rookery cluster get ${name}\`, or choose another name`,
  });
}

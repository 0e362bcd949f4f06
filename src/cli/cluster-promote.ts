/** `rookery cluster promote`: what users made in one cluster, copied to another that exists or is made for it. */
import { clusters } from '../api/resources.ts';
import type { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import { ignoreNotFound, type ObjectStore } from '../kube/index.ts';
import { clusterWays } from '../provisioners/registry.ts';
import { requestCluster } from '../provisioners/request-cluster.ts';
import { findCluster, writeKubeconfig } from './cluster-lookup.ts';
import { isReadyNow, waitForCluster, waitForProvider } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { seconds } from './numbers.ts';
import { type OutputFormat, print } from './output.ts';
import { progressView } from './progress-view.ts';
import { carryTo, planFrom, planText, reportText } from './promotion-run.ts';
import { chooseWay, wayOf } from './ways.ts';

interface PromoteOptions extends GlobalOptions {
  namespace: string;
  to: string;
  as?: string;
  includeNamespace?: string[];
  dryRun?: boolean;
  timeout?: string;
}

export async function promoteCluster(options: PromoteOptions, name: string): Promise<void> {
  const { namespace, output } = options;
  const { home, store, url, signal, close } = await connect(options);
  try {
    await findCluster(store, namespace, name);
    const target = await targetOf(store, options, name);
    const plan = await planFrom({ store, url }, namespace, name, options.includeNamespace, signal);
    if (options.dryRun) {
      const facts = {
        from: name,
        to: target.name,
        dryRun: true,
        plan: plan.steps.map((step) => step.item),
        left: plan.left,
      };
      return await print(output, facts, () => planText(plan, name, target.name));
    }
    if (target.provisioner) {
      const provisioner = target.provisioner;
      await makeCluster(
        { home, store, signal, output, timeout: options.timeout },
        { namespace, name: target.name, provisioner },
      );
    }
    const report = await carryTo({ store, url }, namespace, target.name, plan, signal);
    const kubeconfig = await writeKubeconfig(home, { store, url }, namespace, target.name);
    await print(
      output,
      { from: name, to: target.name, kubeconfig, ...report },
      () => `${reportText(report, name, target.name)}  export KUBECONFIG=${kubeconfig}\n`,
    );
    if (report.failed.length > 0) process.exitCode = 1;
  } finally {
    await close();
  }
}

interface Target {
  name: string;
  /** To make it with; absent when it exists. */
  provisioner?: string;
}

/** A cluster that exists is meant first; else the name of a provisioner. */
async function targetOf(store: ObjectStore, { namespace, to, as }: PromoteOptions, name: string): Promise<Target> {
  if (to === name) {
    throw new RookeryError('promote.same', `cluster ${name} cannot be promoted to itself`, { class: 'user' });
  }
  if (await store.get(clusters, { namespace, name: to }).catch(ignoreNotFound)) return { name: to };
  const ways = clusterWays.map((way) => way.name);
  if (![...ways, 'auto'].includes(to)) {
    throw new RookeryError('promote.target', `${JSON.stringify(to)} is neither a cluster nor a provisioner`, {
      class: 'user',
      hint: `clusters: \`rookery cluster list\`; provisioners: ${ways.join(', ')}, auto`,
    });
  }
  const made = as ?? `${name}-${to}`;
  const known = await store.get(clusters, { namespace, name: made }).catch(ignoreNotFound);
  const isSame = known && (to === 'auto' || wayOf(known)?.name === to);
  if (known && !isSame) {
    throw new RookeryError('promote.exists', `there is a cluster ${made} already, and ${to} did not make it`, {
      class: 'user',
      hint: `choose another name with --as, or promote to it: --to ${made}`,
    });
  }
  // Made by an earlier run: doing it twice is doing it once.
  return known ? { name: made } : { name: made, provisioner: to };
}

export async function makeCluster(
  world: { home: Home; store: ObjectStore; signal: AbortSignal; output: OutputFormat; timeout?: string },
  wanted: { namespace: string; name: string; provisioner: string; kubernetesVersion?: string },
): Promise<void> {
  const { home, store, signal, output, timeout } = world;
  const { namespace, name, provisioner, kubernetesVersion } = wanted;
  const key = { namespace, name };
  const way = await chooseWay(provisioner, home);
  const timeoutMs = timeout ? seconds(timeout, '--timeout') : way.patienceSeconds * 1000;
  await requestCluster(store, way, key, { kubernetesVersion });
  const view = progressView({ title: `${name} (${way.name})`, output });
  await waitForProvider(store, way, key, isReadyNow, { timeoutMs, signal, view, what: `cluster ${name} to be ready` });
  await waitForCluster(store, key, { timeoutMs, signal });
}

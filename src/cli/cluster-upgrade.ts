/**
 * `rookery cluster upgrade`: in place where the tool can. Where it cannot, a new cluster is made and what users made is copied to it, but only when
 * that was asked for (`--replace`); the old one stays until somebody deletes it.
 */
import type { KubeObject } from '../api/object.ts';
import { RookeryError } from '../errors.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { findVersion, parseWanted } from '../tools/versions.ts';
import { findProvided, type ProvidedCluster, writeKubeconfig } from './cluster-lookup.ts';
import { makeCluster } from './cluster-promote.ts';
import { isReadyNow, waitForProvider } from './cluster-wait.ts';
import { type Connected, connect, type GlobalOptions } from './connect.ts';
import { seconds } from './numbers.ts';
import { print } from './output.ts';
import { progressView } from './progress-view.ts';
import { carryTo, planFrom, planText, reportText } from './promotion-run.ts';
import { openWay } from './ways.ts';

interface UpgradeOptions extends GlobalOptions {
  namespace: string;
  kubernetesVersion: string;
  replace?: boolean;
  as?: string;
  dryRun?: boolean;
  wait: boolean;
  timeout?: string;
}

export async function upgradeCluster(options: UpgradeOptions, name: string): Promise<void> {
  const wanted = options.kubernetesVersion;
  const connected = await connect(options);
  try {
    const found = await findProvided(connected.store, options.namespace, name);
    const from: string | undefined = found.provider.status?.version;
    const { upgrades } = await openWay(found.way, connected.home);
    refuseStepBack(name, from, wanted);
    if (upgrades === 'in place') return await inPlace(connected, options, name, found, from);
    if (!options.replace) throw recreateOnly(name, found.way, from, wanted);
    await replace(connected, options, name, found.way);
  } finally {
    await connected.close();
  }
}

async function inPlace(
  { store, signal }: Connected,
  options: UpgradeOptions,
  name: string,
  { way, key, provider }: ProvidedCluster,
  from: string | undefined,
): Promise<void> {
  const wanted = options.kubernetesVersion;
  const facts = { name, how: 'in place', from, to: wanted };
  if (options.dryRun) {
    return print(options.output, facts, () => `${way.name} would upgrade ${name} in place from ${from} to ${wanted}\n`);
  }
  const changed = await store.patch(way.resource, key, {
    type: 'merge',
    // Every kind calls it so; where it lives and what else was wished stays as it is.
    body: { spec: { kubernetesVersion: wanted } },
  });
  if (!options.wait) return print(options.output, facts, () => `cluster ${name}: upgrade to ${wanted} requested\n`);
  const timeoutMs = options.timeout ? seconds(options.timeout, '--timeout') : way.patienceSeconds * 1000;
  const view = progressView({ title: `${name} (${way.name}): ${from} → ${wanted}`, output: options.output });
  const { generation = provider.metadata.generation ?? 0 } = changed.metadata;
  const what = `cluster ${name} to run Kubernetes ${wanted}`;
  const upgraded = await waitForProvider(store, way, key, (object) => runs(object, wanted, generation), {
    timeoutMs,
    signal,
    view,
    what,
  });
  const { version } = upgraded.status ?? {};
  await print(
    options.output,
    { ...facts, version },
    () => `cluster ${name} runs Kubernetes ${version} (was ${from})\n`,
  );
}

function runs(object: KubeObject, wanted: string, generation: number): boolean {
  const { observedGeneration = 0, resolved, version } = object.status ?? {};
  if (observedGeneration < generation || !isReadyNow(object)) return false;
  return resolved ? resolved.requested === wanted && (!resolved.version || resolved.version === version) : true;
}

async function replace(
  { home, store, url, signal }: Connected,
  options: UpgradeOptions,
  name: string,
  way: ClusterWay,
): Promise<void> {
  const { namespace, output, timeout, kubernetesVersion } = options;
  const { major, minor } = parseWanted(kubernetesVersion);
  const next = options.as ?? `${name}-${major}-${minor}`;
  const plan = await planFrom({ store, url }, namespace, name, undefined, signal);
  if (options.dryRun) {
    const facts = { name, how: 'replace', to: next, plan: plan.steps.map((step) => step.item), left: plan.left };
    const head = `a new ${way.name} cluster ${next} with Kubernetes ${kubernetesVersion} would be made; ${name} stays\n`;
    return print(output, facts, () => head + planText(plan, name, next));
  }
  await makeCluster(
    { home, store, signal, output, timeout },
    { namespace, name: next, provisioner: way.name, kubernetesVersion },
  );
  const report = await carryTo({ store, url }, namespace, next, plan, signal);
  const kubeconfig = await writeKubeconfig(home, { store, url }, namespace, next);
  await print(output, { name, how: 'replace', to: next, kubeconfig, ...report }, () =>
    [
      reportText(report, name, next),
      `  export KUBECONFIG=${kubeconfig}\n`,
      `${name} is as it was; when ${next} is what you want: rookery cluster delete ${name}\n`,
    ].join(''),
  );
  if (report.failed.length > 0) process.exitCode = 1;
}

/** Kubernetes goes up, one minor at a time; said here before anything is written. */
function refuseStepBack(name: string, from: string | undefined, wanted: string): void {
  const old = findVersion(from ?? '');
  const { major, minor, patch } = parseWanted(wanted);
  if (!old) return;
  const isBack = minor < old[1] || (minor === old[1] && patch !== undefined && patch < old[2]);
  if (major === old[0] && !isBack && minor <= old[1] + 1) return;
  const message = isBack
    ? `${name} runs ${from} and cannot go back to ${wanted}`
    : `from ${from} to ${wanted} is more than one minor`;
  throw new RookeryError('cluster.upgrade', message, {
    class: 'user',
    hint: isBack ? 'make a second cluster with the older version' : `upgrade to ${old[0]}.${old[1] + 1} first`,
  });
}

function recreateOnly(name: string, way: ClusterWay, from: string | undefined, wanted: string): RookeryError {
  return new RookeryError(
    'cluster.upgrade',
    `${way.name} cannot upgrade in place: ${name} stays at ${from ?? 'its version'} for as long as it lives`,
    {
      class: 'user',
      hint:
        `with --replace a new cluster with ${wanted} is made, what you made in ${name} is copied to it (not the data of volumes), ` +
        'and the old one stays until you delete it; --dry-run shows what would go',
    },
  );
}

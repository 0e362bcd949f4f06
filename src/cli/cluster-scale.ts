/** `rookery cluster scale`: another number of nodes, where the tool can do that to a cluster that runs. */
import type { KubeObject } from '../api/object.ts';
import { RookeryError } from '../errors.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { findProvided } from './cluster-lookup.ts';
import { isReadyNow, waitForProvider } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { Interrupted } from './interrupt.ts';
import { count, seconds } from './numbers.ts';
import { print } from './output.ts';
import { progressView } from './progress-view.ts';
import { openWay } from './ways.ts';

interface ScaleOptions extends GlobalOptions {
  namespace: string;
  nodes?: string;
  controlPlanes?: string;
  wait: boolean;
  timeout?: string;
}

export async function scaleCluster(options: ScaleOptions, name: string): Promise<void> {
  const nodes = count(options.nodes, '--nodes');
  const wanted = count(options.controlPlanes, '--control-planes');
  if (!nodes && !wanted) {
    throw new RookeryError('cli.flag', 'say how many: --nodes <count>', { class: 'user' });
  }
  const { home, store, signal, close } = await connect(options);
  try {
    const { way, key, provider } = await findProvided(store, options.namespace, name);
    const { scales } = await openWay(way, home);
    if (scales === 'recreate') throw recreateOnly(name, way);
    if (scales !== 'in place') throw nothingToScale(name, way, scales.never);
    const spec = way.spec({ nodes, controlPlanes: wanted ?? severalControlPlanes(provider) }, key);
    const changed = await store.patch(way.resource, key, { type: 'merge', body: { spec } });
    if (!options.wait) return await print(options.output, changed, () => `cluster ${name}: new size requested\n`);
    const timeoutMs = options.timeout ? seconds(options.timeout, '--timeout') : way.patienceSeconds * 1000;
    const view = progressView({ title: `${name} (${way.name})`, output: options.output });
    const { generation = 0 } = changed.metadata;
    const holds = (object: KubeObject) => (object.status?.observedGeneration ?? 0) >= generation && isReadyNow(object);
    const what = `cluster ${name} to have its new size`;
    const scaled = await waitForProvider(store, way, key, holds, { timeoutMs, signal, view, what });
    const ready = (scaled.status?.nodes ?? []).filter((node: { ready?: boolean }) => node.ready).length;
    await print(
      options.output,
      { name, nodes: scaled.status?.nodes ?? [] },
      () => `cluster ${name} has ${ready} nodes\n`,
    );
  } catch (error) {
    throw error instanceof Interrupted ? new Interrupted(`it goes on; see \`rookery why ${name}\``) : error;
  } finally {
    await close();
  }
}

/** More nodes are more workers: the control planes there are stay. */
function severalControlPlanes(provider: KubeObject): number | undefined {
  const members = (provider.status?.nodes ?? []).filter((node: { role?: string }) =>
    ['control-plane', 'master', 'server'].includes(node.role ?? ''),
  );
  return members.length > 1 ? members.length : undefined;
}

function nothingToScale(name: string, way: ClusterWay, why: string): RookeryError {
  return new RookeryError('cluster.scale', `${name} cannot be scaled: ${why}`, {
    class: 'user',
    hint: `\`rookery provisioners\` says which clusters scale in place; ${name} was made by ${way.name}`,
  });
}

function recreateOnly(name: string, way: ClusterWay): RookeryError {
  return new RookeryError(
    'cluster.scale',
    `${way.name} cannot scale in place: the nodes of its clusters are made once`,
    {
      class: 'user',
      hint:
        `make another one of the size you need (rookery cluster create ${name}2 -p ${way.name} --nodes …) ` +
        `and move what you made: rookery cluster promote ${name} --to ${name}2`,
    },
  );
}

/** `rookery cluster suspend` and `resume`: stopped, with everything it stored kept; and started again. */

import type { KubeObject } from '../api/object.ts';
import { SUSPENDED_ANNOTATION } from '../controllers/provisioned-cluster-scope.ts';
import { RookeryError } from '../errors.ts';
import { getCondition, ignoreNotFound } from '../kube/index.ts';
import { findProvided } from './cluster-lookup.ts';
import { isReadyNow, waitForProvider } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { Interrupted } from './interrupt.ts';
import { seconds } from './numbers.ts';
import { print } from './output.ts';
import { progressView } from './progress-view.ts';

interface PowerOptions extends GlobalOptions {
  namespace: string;
  wait: boolean;
  timeout: string;
}

export async function setPower(options: PowerOptions, name: string, wanted: 'suspended' | 'running'): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { store, signal, close } = await connect(options);
  try {
    const { way, key, provider } = await findProvided(store, options.namespace, name);
    if (wanted === 'suspended' && !provider.status?.initialization?.provisioned) throw notReady(name);
    const annotation = wanted === 'suspended' ? 'true' : null;
    const body = { metadata: { annotations: { [SUSPENDED_ANNOTATION]: annotation } } };
    await store.patch(way.resource, key, { type: 'merge', body });
    const verb = wanted === 'suspended' ? 'suspended' : 'running';
    if (!options.wait) {
      return await print(options.output, { name, requested: verb }, () => `cluster ${name}: ${verb} requested\n`);
    }
    const view = progressView({ title: `${name} (${way.name})`, output: options.output });
    const holds = wanted === 'suspended' ? isSuspended : isReadyNow;
    await waitForProvider(store, way, key, holds, { timeoutMs, signal, view, what: `cluster ${name} to be ${verb}` });
    const cluster = await store.get(way.resource, key).catch(ignoreNotFound);
    await print(options.output, { name, state: verb, provider: cluster }, () =>
      wanted === 'suspended'
        ? `cluster ${name} is suspended; \`rookery cluster resume ${name}\` starts it again\n`
        : `cluster ${name} is running\n`,
    );
  } catch (error) {
    throw error instanceof Interrupted ? new Interrupted(`it goes on; see \`rookery why ${name}\``) : error;
  } finally {
    await close();
  }
}

function isSuspended(provider: KubeObject): boolean {
  return getCondition(provider, 'Ready')?.reason === 'Suspended';
}

function notReady(name: string): RookeryError {
  return new RookeryError('cluster.not-ready', `cluster ${name} has never been ready: there is nothing to suspend`, {
    class: 'user',
    hint: `see \`rookery why ${name}\`; \`rookery cluster delete ${name}\` removes it`,
  });
}

/** `rookery cluster start-empty`: a person gives up what a lost or damaged store held. */
import { STORE_DECISION_ANNOTATION, SUSPENDED_ANNOTATION } from '../controllers/provisioned-cluster-scope.ts';
import { RookeryError } from '../errors.ts';
import { getCondition } from '../kube/index.ts';
import { findProvided } from './cluster-lookup.ts';
import { isReadyNow, waitForProvider } from './cluster-wait.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { seconds } from './numbers.ts';
import { print } from './output.ts';
import { progressView } from './progress-view.ts';
import { hasStoreTrouble } from './store-trouble.ts';

interface StartEmptyOptions extends GlobalOptions {
  namespace: string;
  yes?: boolean;
  timeout: string;
}

export async function startEmpty(options: StartEmptyOptions, name: string): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { store, signal, close } = await connect(options);
  try {
    const { way, key, provider } = await findProvided(store, options.namespace, name);
    if (!hasStoreTrouble(provider)) throw nothingLost(name);
    if (!options.yes)
      throw notSaid(name, getCondition(provider, 'Ready')?.message?.split('\n')[0] ?? 'its store is lost');
    const body = {
      metadata: { annotations: { [STORE_DECISION_ANNOTATION]: 'start-empty', [SUSPENDED_ANNOTATION]: null } },
    };
    await store.patch(way.resource, key, { type: 'merge', body });
    const view = progressView({ title: `${name} (${way.name})`, output: options.output });
    await waitForProvider(store, way, key, isReadyNow, {
      timeoutMs,
      signal,
      view,
      what: `cluster ${name} to be ready`,
    });
    await print(
      options.output,
      { name, state: 'ready', store: 'empty' },
      () =>
        `cluster ${name} is ready, with an empty store\nits credentials are new; fetch its kubeconfig again: rookery cluster kubeconfig ${name} --path\n`,
    );
  } finally {
    await close();
  }
}

function nothingLost(name: string): RookeryError {
  return new RookeryError('cluster.store-whole', `the store of cluster ${name} is neither lost nor damaged`, {
    class: 'user',
    hint: `nothing was changed; see \`rookery why ${name}\``,
  });
}

function notSaid(name: string, what: string): RookeryError {
  return new RookeryError('cluster.start-empty', `${what}. Starting empty gives up everything cluster ${name} stored`, {
    class: 'user',
    hint: `say so with --yes; a backup brings it back instead: rookery backup restore <file> --cluster ${name}`,
  });
}

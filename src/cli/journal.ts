/** `rookery journal`: what happened to a cluster, oldest first; with --follow also what happens from now on. */
import { setTimeout as delay } from 'node:timers/promises';
import pc from 'picocolors';
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { idOf, type JournalLine, journalOf } from '../diagnosis/journal.ts';
import { ignoreNotFound, type ObjectStore } from '../kube/index.ts';
import { findCluster } from './cluster-lookup.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { Interrupted } from './interrupt.ts';
import { print } from './output.ts';
import { wayOf } from './ways.ts';

interface JournalOptions extends GlobalOptions {
  namespace: string;
  follow?: boolean;
  outputOfTools?: boolean;
}

/** Histories, events and journals are three kinds in two places: looking again is simpler than three watches, and soon enough to read. */
const LOOK_MS = 1000;

export async function journal(options: JournalOptions, name: string): Promise<void> {
  const { store, signal, close } = await connect(options);
  try {
    const cluster = await findCluster(store, options.namespace, name);
    const lines = await journalOf(store, await objectsOf(store, cluster), signal);
    const shown = options.outputOfTools ? lines : lines.map(({ output: _, ...line }) => line);
    const text = (found: JournalLine[]) =>
      found.length > 0 || options.follow
        ? found.map(lineText).join('')
        : `nothing has happened to cluster ${name} yet\n`;
    if (!options.follow) return await print(options.output, shown, text);
    const tell = (line: JournalLine) =>
      void process.stdout.write(options.output === 'table' ? lineText(line) : `${JSON.stringify(line)}\n`);
    for (const line of shown) tell(line);
    await follow(store, cluster, new Set(lines.map(idOf)), options, tell, signal);
  } catch (error) {
    // The way a journal that is followed ends.
    if (!(error instanceof Interrupted)) throw error;
  } finally {
    await close();
  }
}

/** Ends when the cluster is gone. */
async function follow(
  store: ObjectStore,
  cluster: KubeObject,
  told: Set<string>,
  options: JournalOptions,
  tell: (line: JournalLine) => void,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '' } = cluster.metadata;
  for (;;) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    const current = await store.get(clusters, { namespace, name }, { signal }).catch(ignoreNotFound);
    for (const line of await journalOf(store, await objectsOf(store, current ?? cluster), signal)) {
      if (told.has(idOf(line))) continue;
      told.add(idOf(line));
      const { output: _, ...short } = line;
      tell(options.outputOfTools ? line : short);
    }
    if (current?.metadata.uid !== cluster.metadata.uid) return;
  }
}

async function objectsOf(store: ObjectStore, cluster: KubeObject): Promise<KubeObject[]> {
  const way = wayOf(cluster);
  const key = { namespace: cluster.metadata.namespace, name: cluster.spec?.infrastructureRef?.name };
  const provider = way && (await store.get(way.resource, key).catch(ignoreNotFound));
  return provider ? [cluster, provider] : [cluster];
}

function lineText({ at, reason, message, output }: JournalLine): string {
  const [first = '', ...more] = message.split('\n');
  const below = [...more, ...(output?.trimEnd().split('\n') ?? [])].map((line) => `    ${line}\n`).join('');
  return `${pc.dim(at)}  ${reason.padEnd(20)} ${first}\n${below}`;
}

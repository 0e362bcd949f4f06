/** `rookery workspace logs`: what the controllers told about a workspace and its cluster, and what happened to its shells, in one order. */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances } from '../api/resources.ts';
import { SHARED_NAMESPACE } from '../controllers/workspace/shared-cluster.ts';
import { RookeryError } from '../errors.ts';
import { events, ignoreNotFound, keyOf, listAll, type ObjectStore } from '../kube/index.ts';
import { type Connected, connect, type GlobalOptions } from './connect.ts';
import { Interrupted } from './interrupt.ts';
import { print } from './output.ts';
import { findWorkspace } from './workspace-lookup.ts';
import { linkTo } from './workspace-open.ts';

interface LogsOptions extends GlobalOptions {
  namespace?: string;
  follow?: boolean;
}

interface Line {
  at: string;
  /** `workspace`, `cluster`, `shell`. */
  of: string;
  text: string;
  /** Events tell the second; which came first within it, their version tells. */
  version?: number;
}

const PASS_MS = 24 * 3_600_000;
const POLL_MS = 1000;

export async function workspaceLogs(options: LogsOptions, name: string): Promise<void> {
  const connected = await connect(options);
  const { store, signal, close } = connected;
  try {
    const instance = await findWorkspace(store, name, options.namespace);
    const shell = shellOf(connected, instance);
    const told = new Set<string>();
    const fresh = async (): Promise<Line[]> => {
      const lines = [...(await eventsOf(store, instance)), ...(await shell())];
      const unseen = lines.filter((line) => !told.has(textOf(line)));
      for (const line of unseen) told.add(textOf(line));
      return unseen.sort(byTime);
    };
    const first = await fresh();
    if (!options.follow) return await print(options.output, first, () => first.map(textOf).join(''));
    process.stdout.write(first.map(textOf).join(''));
    while (await store.get(workspaceInstances, keyOf(instance)).catch(ignoreNotFound)) {
      await delay(POLL_MS, undefined, { signal });
      process.stdout.write((await fresh()).map(textOf).join(''));
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof Interrupted)) throw error;
  } finally {
    await close();
  }
}

function byTime(a: Line, b: Line): number {
  const second = ({ at }: Line) => Math.floor(Date.parse(at) / 1000);
  const last = Number.MAX_SAFE_INTEGER;
  return second(a) - second(b) || (a.version ?? last) - (b.version ?? last) || a.at.localeCompare(b.at);
}

function textOf({ at, of, text }: Line): string {
  return `${at} ${of.padEnd(10)} ${text}\n`;
}

async function eventsOf(store: ObjectStore, { metadata, spec }: KubeObject): Promise<Line[]> {
  const about = async (namespace: string | undefined, name: string | undefined) => {
    const { items } = await listAll(store, events, { namespace });
    return items.filter(({ involvedObject }) => involvedObject?.name === name);
  };
  const own = await about(metadata.namespace, metadata.name);
  const shared = await about(SHARED_NAMESPACE, spec?.templateRef?.name);
  return [...own, ...shared].map((event) => ({
    at: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '',
    of: event.involvedObject?.kind === workspaceInstances.kind ? 'workspace' : 'cluster',
    version: Number(event.metadata.resourceVersion),
    text: `${event.reason}: ${event.message}${(event.count ?? 1) > 1 ? ` (${event.count} times)` : ''}`,
  }));
}

/** The control plane that serves the workspace has its shells; without one there is nothing to hear. */
function shellOf({ home, state, store, isHosted, signal }: Connected, instance: KubeObject): () => Promise<Line[]> {
  let address: Promise<URL> | undefined;
  let since = '';
  return async () => {
    if (isHosted || !instance.status?.accessEndpoints?.webTerminal) return [];
    address ??= linkTo(store, home, instance, 'viewer', PASS_MS).then((link) => new URL(link));
    const link = await address;
    const { namespace, name } = instance.metadata;
    const url = new URL(`/w/${namespace}/${name}/logs?since=${encodeURIComponent(since)}`, state.webUrl ?? link);
    const response = await fetch(url, { headers: { cookie: `pass=${link.searchParams.get('link')}` }, signal });
    if (response.status === 404) return [];
    const { lines, message } = (await response.json()) as { lines?: string[]; message?: string };
    if (!lines) throw new RookeryError('workspace.logs', `${name}: ${message}`, { class: 'retryable' });
    since = lines.at(-1)?.split(' ', 1)[0] ?? since;
    return lines.map((line) => {
      const space = line.indexOf(' ');
      return { at: line.slice(0, space), of: 'shell', text: line.slice(space + 1) };
    });
  };
}

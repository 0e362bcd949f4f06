/** `rookery workshop run`: an author's own workspace, which follows the files. */
import { watch } from 'node:fs';
import { userInfo } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances } from '../api/resources.ts';
import { systemClock } from '../clock.ts';
import { ensureNamespace } from '../controllers/workspace/own-namespace.ts';
import { RookeryError } from '../errors.ts';
import { apiVersionOf, ConnectionError, isAlreadyExists, KubeError, type ObjectStore, waitFor } from '../kube/index.ts';
import { compile } from '../workshop/compile.ts';
import { type Connected, connect, type GlobalOptions } from './connect.ts';
import { Interrupted } from './interrupt.ts';
import { print } from './output.ts';
import { sync } from './template.ts';
import { load } from './workshop.ts';
import { touch } from './workspace-change.ts';
import { failed } from './workspace-create.ts';
import { namespaceOf } from './workspace-lookup.ts';
import { linkTo, nothingServes } from './workspace-open.ts';

const PATIENCE_MS = 300_000;
const LINK_MS = 12 * 3_600_000;
/** Editors write several files at once. */
const SETTLE_MS = 200;

interface RunOptions extends GlobalOptions {
  once?: boolean;
}

export async function runWorkshop(options: RunOptions, folder: string): Promise<void> {
  await load(folder);
  const connected = await connect(options);
  try {
    if (connected.isHosted) throw nothingServes();
    // From before the files are read: what is saved while the workspace comes up counts.
    const changes = changesOf(folder);
    await present(options, folder, connected, changes).finally(() => changes.close());
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  } finally {
    await connected.close();
  }
}

async function present(options: RunOptions, folder: string, connected: Connected, changes: Changes): Promise<void> {
  const { home, store, signal } = connected;
  const template = await sync(store, compile(await load(folder), systemClock));
  const instance = await ensureInstance(store, template, signal);
  const link = await linkTo(store, home, instance, 'student', LINK_MS);
  const name = instance.metadata.name as string;
  await print(options.output, { workspace: name, link }, () => welcome(name, link, options.once));
  if (options.once) return;
  await follow(changes, signal, async () => {
    await sync(store, compile(await load(folder), systemClock));
    process.stderr.write('the workspace is up to date with the files\n');
  });
}

async function ensureInstance(store: ObjectStore, template: KubeObject, signal: AbortSignal): Promise<KubeObject> {
  const name = `${template.metadata.name}-author`;
  const namespace = namespaceOf(name);
  const orThere = (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  };
  await ensureNamespace(store, namespace, name);
  const instance: KubeObject = {
    apiVersion: apiVersionOf(workspaceInstances),
    kind: workspaceInstances.kind,
    metadata: { name, namespace },
    spec: { templateRef: { name: template.metadata.name }, owner: userInfo().username },
  };
  await store.create(workspaceInstances, instance, { fieldManager: 'rookery' }).catch(async (error) => {
    orThere(error);
    await touch(store, { namespace, name });
  });
  const isRunning = (seen: KubeObject | undefined) => {
    if (seen?.status?.phase === 'Failed') throw failed(seen);
    return seen?.status?.phase === 'Running';
  };
  const wait = { timeoutMs: PATIENCE_MS, signal, what: `workspace ${name} to run` };
  return (await waitFor(store, workspaceInstances, { namespace, name }, isRunning, wait)) as KubeObject;
}

interface Changes {
  /** Whether there were any since it was last asked. */
  take(): boolean;
  close(): void;
}

function changesOf(folder: string): Changes {
  let isChanged = false;
  const onChange = () => {
    isChanged = true;
  };
  // Whatever is wrong with watching a folder, reading it says it better.
  const watcher = watch(folder, { recursive: true }, onChange).on('error', onChange);
  const take = () => {
    const was = isChanged;
    isChanged = false;
    return was;
  };
  return { take, close: () => watcher.close() };
}

/** Until Ctrl-C. What is wrong in the files is told, and the workspace stays as it was. */
async function follow(changes: Changes, signal: AbortSignal, update: () => Promise<void>): Promise<void> {
  try {
    for (;;) {
      await delay(SETTLE_MS, undefined, { signal });
      if (!changes.take()) continue;
      await update().catch((error) => {
        if (!isForTheAuthor(error)) throw error;
        process.stderr.write(`${error.message}\n`);
      });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** What is wrong in the files, what the API refuses of them, and a control plane that is being started again. */
function isForTheAuthor(error: unknown): error is Error {
  return [RookeryError, KubeError, ConnectionError].some((kind) => error instanceof kind);
}

function welcome(name: string, link: string, isOnce: boolean | undefined): string {
  const lines = [`workspace ${name} is running. Open`, '', `  ${link}`, ''];
  if (!isOnce)
    lines.push(
      'Files are followed: instructions and checks change as you save them, files and manifests when their step begins. Ctrl-C ends this; the workspace stays:',
    );
  return [...lines, `  rookery workspace delete ${name}`, ''].join('\n');
}

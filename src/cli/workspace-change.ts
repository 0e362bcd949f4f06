/** `rookery workspace step|extend|suspend|resume|delete` */
import type { KubeObject } from '../api/object.ts';
import { namespaces, workspaceInstances } from '../api/resources.ts';
import { RookeryError } from '../errors.ts';
import { ignoreNotFound, keyOf, type ObjectStore, waitFor, waitForGone } from '../kube/index.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { seconds } from './numbers.ts';
import { print } from './output.ts';
import { failed } from './workspace-create.ts';
import { findWorkspace, namespaceOf } from './workspace-lookup.ts';

interface ChangeOptions extends GlobalOptions {
  namespace?: string;
  wait: boolean;
  timeout: string;
}

export function goToStep(options: ChangeOptions, name: string, step: string): Promise<void> {
  return change(options, name, { currentStep: step }, ({ status }) => status?.currentStep === step, `is at ${step}`);
}

export function extend(options: ChangeOptions & { ttl: string }, name: string): Promise<void> {
  const overrides = { lifecycle: { ttl: options.ttl } };
  const isDone = ({ metadata, status }: KubeObject) => status?.observedGeneration === metadata.generation;
  return change(options, name, { overrides }, isDone, `lives for ${options.ttl} from its start`);
}

export function suspend(options: ChangeOptions, name: string): Promise<void> {
  return change(options, name, { suspend: true }, ({ status }) => status?.phase === 'Suspended', 'is suspended');
}

export function resume(options: ChangeOptions, name: string): Promise<void> {
  return change(options, name, { suspend: null }, ({ status }) => status?.phase === 'Running', 'is running');
}

export async function deleteWorkspaces(options: ChangeOptions, names: string[]): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { store, signal, close } = await connect(options);
  try {
    const found = await Promise.all(names.map((name) => findWorkspace(store, name, options.namespace)));
    await Promise.all(found.map((one) => store.delete(workspaceInstances, keyOf(one)).catch(ignoreNotFound)));
    if (options.wait) await Promise.all(found.map((one) => gone(store, one, timeoutMs, signal)));
    const verb = options.wait ? 'deleted' : 'deletion requested';
    await print(options.output, { deleted: names }, () => names.map((name) => `workspace ${name} ${verb}\n`).join(''));
  } finally {
    await close();
  }
}

async function gone(store: ObjectStore, one: KubeObject, timeoutMs: number, signal: AbortSignal): Promise<void> {
  await waitForGone(store, workspaceInstances, keyOf(one), { timeoutMs, signal });
  const { namespace, name } = one.metadata;
  // The namespace that was made for it goes with it; one that somebody chose stays.
  if (namespace !== namespaceOf(name as string)) return;
  await store.delete(namespaces, { name: namespace }).catch(ignoreNotFound);
}

async function change(
  options: ChangeOptions,
  name: string,
  spec: object,
  isDone: (instance: KubeObject) => boolean,
  text: string,
): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { store, signal, close } = await connect(options);
  try {
    const found = await findWorkspace(store, name, options.namespace);
    const key = keyOf(found);
    let instance = await store.patch(workspaceInstances, key, { type: 'merge', body: { spec } });
    if (options.wait) {
      const wanted = (seen: KubeObject | undefined) => {
        if (!seen) throw new RookeryError('workspace.missing', `workspace ${name} is gone`, { class: 'user' });
        const isCurrent = seen.status?.observedGeneration === seen.metadata.generation;
        if (isCurrent && seen.status?.phase === 'Failed') throw failed(seen);
        return isCurrent && isDone(seen);
      };
      const what = `workspace ${name}: ${text}`;
      instance = (await waitFor(store, workspaceInstances, key, wanted, { timeoutMs, signal, what })) as KubeObject;
    }
    await print(options.output, instance, () => `workspace ${name} ${options.wait ? text : 'change requested'}\n`);
  } finally {
    await close();
  }
}

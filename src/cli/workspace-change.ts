/** `rookery workspace step|extend|suspend|resume|delete` */
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances } from '../api/resources.ts';
import { rfc3339 } from '../clock.ts';
import { FORCE_ANNOTATION } from '../controllers/workspace/navigation.ts';
import { RookeryError } from '../errors.ts';
import {
  getCondition,
  ignoreNotFound,
  keyOf,
  type ObjectKey,
  type ObjectStore,
  waitFor,
  waitForGone,
} from '../kube/index.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { seconds } from './numbers.ts';
import { print } from './output.ts';
import { failed } from './workspace-create.ts';
import { findWorkspace } from './workspace-lookup.ts';

interface ChangeOptions extends GlobalOptions {
  namespace?: string;
  wait: boolean;
  timeout: string;
}

export async function goToStep(
  options: ChangeOptions & { force?: boolean },
  name: string,
  step: string,
): Promise<void> {
  const body = {
    spec: { currentStep: step },
    ...(options.force ? { metadata: { annotations: { [FORCE_ANNOTATION]: step } } } : {}),
  };
  const isThere = ({ status }: KubeObject) => status?.currentStep === step;
  await change(options, name, body, isThere, `is at ${step}`).catch((error: Error) => {
    if (!error.message.includes('spec.currentStep: Forbidden')) throw error;
    const hint = `rookery workspace step ${name} ${step} --force goes there anyway`;
    throw new RookeryError('workspace.locked', error.message, { class: 'user', hint });
  });
}

export function extend(options: ChangeOptions & { ttl: string }, name: string): Promise<void> {
  const overrides = { lifecycle: { ttl: options.ttl } };
  const isDone = ({ metadata, status }: KubeObject) => status?.observedGeneration === metadata.generation;
  return change(options, name, { spec: { overrides } }, isDone, `lives for ${options.ttl} from its start`);
}

export function suspend(options: ChangeOptions, name: string): Promise<void> {
  return change(
    options,
    name,
    { spec: { suspend: true } },
    ({ status }) => status?.phase === 'Suspended',
    'is suspended',
  );
}

/** Also one that is suspended because nobody used it: this is use. */
export function resume(options: ChangeOptions, name: string): Promise<void> {
  const body = { spec: { suspend: null } };
  return change(options, name, body, ({ status }) => status?.phase === 'Running', 'is running', touch);
}

export async function touch(store: ObjectStore, key: ObjectKey): Promise<void> {
  const body = { status: { lastActivityAt: rfc3339(Date.now()) } };
  await store.patch(workspaceInstances, key, { type: 'merge', body }, { subresource: 'status' });
}

export async function deleteWorkspaces(options: ChangeOptions, names: string[]): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { store, signal, close } = await connect(options);
  try {
    const found = await Promise.all(names.map((name) => findWorkspace(store, name, options.namespace)));
    await Promise.all(found.map((one) => store.delete(workspaceInstances, keyOf(one)).catch(ignoreNotFound)));
    if (options.wait)
      await Promise.all(found.map((one) => waitForGone(store, workspaceInstances, keyOf(one), { timeoutMs, signal })));
    const verb = options.wait ? 'deleted' : 'deletion requested';
    await print(options.output, { deleted: names }, () => names.map((name) => `workspace ${name} ${verb}\n`).join(''));
  } finally {
    await close();
  }
}

async function change(
  options: ChangeOptions,
  name: string,
  body: Record<string, unknown>,
  isDone: (instance: KubeObject) => boolean,
  text: string,
  before?: (store: ObjectStore, key: ObjectKey) => Promise<void>,
): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { store, signal, close } = await connect(options);
  try {
    const found = await findWorkspace(store, name, options.namespace);
    const key = keyOf(found);
    await before?.(store, key);
    let instance = await store.patch(workspaceInstances, key, { type: 'merge', body });
    if (options.wait) {
      const wanted = (seen: KubeObject | undefined) => {
        if (!seen) throw new RookeryError('workspace.missing', `workspace ${name} is gone`, { class: 'user' });
        const isCurrent = seen.status?.observedGeneration === seen.metadata.generation;
        if (isCurrent && seen.status?.phase === 'Failed') throw failed(seen);
        if (!isCurrent || isDone(seen)) return isCurrent;
        if (getCondition(seen, 'Ready')?.reason === 'Expired') throw expired(name);
        return false;
      };
      const what = `workspace ${name}: ${text}`;
      instance = (await waitFor(store, workspaceInstances, key, wanted, { timeoutMs, signal, what })) as KubeObject;
    }
    await print(options.output, instance, () => `workspace ${name} ${options.wait ? text : 'change requested'}\n`);
  } finally {
    await close();
  }
}

function expired(name: string): RookeryError {
  return new RookeryError('workspace.expired', `the time of workspace ${name} is up`, {
    class: 'user',
    hint: `give it more, counted from its start: rookery workspace extend ${name} --ttl 24h`,
  });
}

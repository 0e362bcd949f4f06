/** `rookery workspace create`: one workspace, or one for each student of a class. */
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances, workspaceTemplates } from '../api/resources.ts';
import { FORCE_ANNOTATION } from '../controllers/workspace/navigation.ts';
import { ensureNamespace } from '../controllers/workspace/own-namespace.ts';
import { RookeryError } from '../errors.ts';
import {
  apiVersionOf,
  getCondition,
  isAlreadyExists,
  isNotFound,
  listAll,
  type ObjectStore,
  waitFor,
} from '../kube/index.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { seconds } from './numbers.ts';
import { columns, print } from './output.ts';
import { readStudents } from './students.ts';
import { namespaceOf } from './workspace-lookup.ts';

interface CreateOptions extends GlobalOptions {
  template: string;
  owner?: string;
  namespace?: string;
  students?: string;
  step?: string;
  force?: boolean;
  ttl?: string;
  wait: boolean;
  timeout: string;
}

interface Wanted {
  name: string;
  namespace: string;
  owner: string;
}

const AT_ONCE = 16;

export async function createWorkspaces(options: CreateOptions, name: string | undefined): Promise<void> {
  const wanted = await wantedOnes(options, name);
  const end = Date.now() + seconds(options.timeout, '--timeout');
  const { store, signal, close } = await connect(options);
  try {
    await store.get(workspaceTemplates, { name: options.template }).catch((error) => {
      throw isNotFound(error) ? noTemplate(options.template) : error;
    });
    const made: KubeObject[] = [];
    const failures: string[] = [];
    // One student's trouble is not everybody's: the others get theirs, and all troubles are told at the end.
    const orTell = (work: (one: Wanted) => Promise<void>) => async (one: Wanted) => {
      await work(one).catch((error: Error) => {
        if (!options.students || signal.aborted) throw error;
        failures.push(`${one.name}: ${error.message}`);
      });
    };
    const requested: Wanted[] = [];
    await each(
      wanted,
      orTell(async (one) => {
        const instance = await request(store, options, one);
        if (options.wait) requested.push(one);
        else made.push(instance);
      }),
    );
    // Most of a class runs by now: one look spares a watch for each of them.
    const seen = requested.length > 1 ? (await listAll(store, workspaceInstances)).items : [];
    await each(
      requested,
      orTell(async (one) => {
        const known = seen.find(({ metadata }) => metadata.name === one.name && metadata.namespace === one.namespace);
        made.push(known && isRunning(known) ? known : await running(store, one, end - Date.now(), signal));
      }),
    );
    await print(options.output, name ? made[0] : made, () => report(made, options.wait));
    if (failures.length > 0) throw incomplete(failures, wanted.length);
  } finally {
    await close();
  }
}

async function wantedOnes(options: CreateOptions, name: string | undefined): Promise<Wanted[]> {
  if (options.students) {
    if (name || options.owner || options.namespace) throw either();
    const students = await readStudents(options.students);
    return students.map(({ owner, id }) => {
      const full = `${options.template}-${id}`;
      return { name: full, namespace: namespaceOf(full), owner };
    });
  }
  if (!name) throw either();
  return [{ name, namespace: options.namespace ?? namespaceOf(name), owner: options.owner ?? name }];
}

async function request(store: ObjectStore, options: CreateOptions, { name, namespace, owner }: Wanted) {
  const annotations = options.step && options.force ? { annotations: { [FORCE_ANNOTATION]: options.step } } : {};
  const instance: KubeObject = {
    apiVersion: apiVersionOf(workspaceInstances),
    kind: workspaceInstances.kind,
    metadata: { name, namespace, ...annotations },
    spec: {
      templateRef: { name: options.template },
      owner,
      ...(options.step ? { currentStep: options.step } : {}),
      ...(options.ttl ? { overrides: { lifecycle: { ttl: options.ttl } } } : {}),
    },
  };
  await refuseEarly(store, instance);
  await ensureNamespace(store, namespace, options.namespace ? undefined : name);
  return await store.create(workspaceInstances, instance, { fieldManager: 'rookery' }).catch(async (error) => {
    if (!isAlreadyExists(error)) throw error;
    // A class that was half made is finished by the same command.
    if (options.students) return await store.get(workspaceInstances, { namespace, name });
    throw new RookeryError('workspace.exists', `there is already a workspace ${name}`, {
      class: 'user',
      hint: `see \`rookery workspace get ${name}\``,
    });
  });
}

/** Tried where there is a namespace already: what is refused leaves none behind. */
async function refuseEarly(store: ObjectStore, instance: KubeObject): Promise<void> {
  const attempt = { ...instance, metadata: { ...instance.metadata, namespace: 'default' } };
  await store.create(workspaceInstances, attempt, { fieldManager: 'rookery', dryRun: true }).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

async function running(store: ObjectStore, { namespace, name }: Wanted, timeoutMs: number, signal: AbortSignal) {
  const what = `workspace ${name} to run`;
  const options = { timeoutMs: Math.max(1000, timeoutMs), signal, what };
  return (await waitFor(store, workspaceInstances, { namespace, name }, isRunning, options)) as KubeObject;
}

function isRunning(instance: KubeObject | undefined): boolean {
  if (instance?.status?.phase === 'Failed') throw failed(instance);
  return instance?.status?.phase === 'Running';
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
}

function report(made: KubeObject[], isWaited: boolean): string {
  if (!isWaited) return made.map(({ metadata }) => `workspace ${metadata.name} requested\n`).join('');
  const [first] = made;
  if (made.length === 1 && first) {
    return `workspace ${first.metadata.name} is running\n  rookery workspace open ${first.metadata.name}\n`;
  }
  const rows = made.map((each) => [each.metadata.name as string, each.spec?.owner, each.status?.phase ?? 'Pending']);
  return columns(['NAME', 'OWNER', 'PHASE'], rows.sort());
}

export function failed(instance: KubeObject): RookeryError {
  const { message = 'it failed' } = getCondition(instance, 'Ready') ?? {};
  return new RookeryError('workspace.failed', `workspace ${instance.metadata.name}: ${message}`, {
    class: 'user',
    hint: `see \`rookery workspace get ${instance.metadata.name}\``,
  });
}

function incomplete(failures: string[], count: number): RookeryError {
  const message = `${failures.length} of ${count} workspaces are not there\n  ${failures.sort().join('\n  ')}`;
  return new RookeryError('workspace.class', message, {
    class: 'user',
    hint: 'the same command makes the ones that are missing',
  });
}

function noTemplate(name: string): RookeryError {
  return new RookeryError('template.missing', `there is no template ${JSON.stringify(name)}`, {
    class: 'user',
    hint: 'see `rookery template list`; make one with `rookery template apply` or `rookery workshop run`',
  });
}

function either(): RookeryError {
  return new RookeryError('workspace.name', 'give either a name, or --students with a class list', { class: 'user' });
}

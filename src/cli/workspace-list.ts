/** `rookery workspace list|get` */
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances } from '../api/resources.ts';
import { getConditions, listAll } from '../kube/index.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, columns, print } from './output.ts';
import { findWorkspace } from './workspace-lookup.ts';

interface ListOptions extends GlobalOptions {
  template?: string;
}

export async function listWorkspaces(options: ListOptions): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const { items: all } = await listAll(store, workspaceInstances);
    const wanted = all.filter(({ spec }) => !options.template || spec?.templateRef?.name === options.template);
    await print(options.output, wanted, () => table(wanted));
  } finally {
    await close();
  }
}

export async function getWorkspace(options: GlobalOptions & { namespace?: string }, name: string): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const instance = await findWorkspace(store, name, options.namespace);
    await print(options.output, instance, () => details(instance));
  } finally {
    await close();
  }
}

function table(instances: KubeObject[]): string {
  if (instances.length === 0) return 'there are no workspaces; make one: rookery workspace create --help\n';
  const now = Date.now();
  const rows = instances.map(({ metadata, spec, status }) => [
    metadata.name as string,
    spec?.templateRef?.name,
    spec?.owner,
    metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? 'Pending'),
    status?.currentStep ?? '',
    status?.expiresAt ? `in ${age(new Date(2 * now - Date.parse(status.expiresAt)).toISOString(), now)}` : '',
    age(metadata.creationTimestamp ?? undefined, now),
  ]);
  return columns(['NAME', 'TEMPLATE', 'OWNER', 'PHASE', 'STEP', 'EXPIRES', 'AGE'], rows);
}

function details(instance: KubeObject): string {
  const { metadata, spec, status } = instance;
  const lines = [
    ['Name', metadata.name],
    ['Namespace', metadata.namespace],
    ['Template', spec?.templateRef?.name],
    ['Owner', spec?.owner],
    ['Phase', status?.phase ?? 'Pending'],
    ['Step', status?.currentStep],
    ['Expires', status?.expiresAt],
    ['Terminal', status?.accessEndpoints?.webTerminal],
  ].filter((line): line is [string, string] => Boolean(line[1]));
  const conditions = getConditions(instance).map(({ type, status: state, message }) => [
    type,
    state,
    message.split('\n')[0] ?? '',
  ]);
  const facts = lines.map(([label, value]) => `${`${label}:`.padEnd(11)}${value}\n`).join('');
  return `${facts}\n${columns(['CONDITION', 'STATUS', 'MESSAGE'], conditions)}`;
}

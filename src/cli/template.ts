/** `rookery template list|apply|sync` */
import { readFile } from 'node:fs/promises';
import type { KubeObject } from '../api/object.ts';
import { workspaceTemplates } from '../api/resources.ts';
import { RookeryError } from '../errors.ts';
import { ignoreNotFound, isAlreadyExists, listAll, type ObjectStore, objectsOf } from '../kube/index.ts';
import { type Artifact, readArtifact } from '../workshop/artifact.ts';
import { templateOf, templateSteps } from '../workshop/template.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, columns, print } from './output.ts';

export async function listTemplates(options: GlobalOptions): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const { items: found } = await listAll(store, workspaceTemplates);
    await print(options.output, found, () => {
      if (found.length === 0) return 'there are no templates; see `rookery workshop run --help`\n';
      const rows = found.map(({ metadata, spec, status }) => [
        metadata.name as string,
        spec?.defaults?.cluster?.mode ?? 'none',
        String((spec?.steps ?? []).length),
        String(status?.instances ?? 0),
        age(metadata.creationTimestamp ?? undefined, Date.now()),
      ]);
      return columns(['NAME', 'CLUSTER', 'STEPS', 'INSTANCES', 'AGE'], rows);
    });
  } finally {
    await close();
  }
}

export async function applyTemplates(options: GlobalOptions & { file: string }): Promise<void> {
  const text = await readFile(options.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new RookeryError('template.file', `${options.file} cannot be read: ${error.code}`, { class: 'user' });
  });
  const objects = await parsed(text, options.file);
  const stranger = objects.find(({ kind }) => kind !== workspaceTemplates.kind);
  if (stranger || objects.length === 0) {
    const what = stranger ? `a ${stranger.kind} is no WorkspaceTemplate` : 'there is no template in it';
    throw new RookeryError('template.kind', `${options.file}: ${what}`, { class: 'user' });
  }
  const { store, close } = await connect(options);
  try {
    const applied: KubeObject[] = [];
    for (const object of objects) {
      const options = { fieldManager: 'rookery-template', force: true };
      applied.push(await store.apply(workspaceTemplates, object, options).catch(asRefusal));
    }
    const text = applied.map(({ metadata }) => `template ${metadata.name} applied\n`).join('');
    await print(options.output, applied, () => text);
  } finally {
    await close();
  }
}

async function parsed(text: string, file: string): Promise<KubeObject[]> {
  try {
    return await objectsOf(text);
  } catch (error) {
    throw new RookeryError('template.yaml', `${file}: ${(error as Error).message.trim()}`, { class: 'user' });
  }
}

/** What an apply does not even understand is answered as a failure of the server; it is the file that is wrong. */
function asRefusal(error: unknown): never {
  const [, what] = /^failed to create typed patch object[^:]*: ([\s\S]+)$/.exec((error as Error).message) ?? [];
  if (!what) throw error;
  throw new RookeryError('template.field', `the template cannot be read: ${what}`, { class: 'user', cause: error });
}

function ignoreAlreadyExists(error: unknown): undefined {
  if (!isAlreadyExists(error)) throw error;
}

export async function syncTemplate(options: GlobalOptions & { name?: string }, file: string): Promise<void> {
  const artifact = readArtifact(file);
  const { store, close } = await connect(options);
  try {
    const template = await sync(store, artifact, options.name);
    const count = artifact.steps.length;
    await print(options.output, template, () => `template ${template.metadata.name} has ${count} steps now\n`);
  } finally {
    await close();
  }
}

/** An operator's defaults stay as they are; the steps and their order are the workshop's. */
export async function sync(store: ObjectStore, artifact: Artifact, name = artifact.name): Promise<KubeObject> {
  const known = await store.get(workspaceTemplates, { name }).catch(ignoreNotFound);
  const create = () => store.create(workspaceTemplates, templateOf(artifact, name), { fieldManager: 'rookery' });
  // Somebody who does the same at the same moment may have been faster.
  const made = known ? undefined : await create().catch(ignoreAlreadyExists);
  if (made) return made;
  const body = { spec: { navigation: artifact.navigation, steps: templateSteps(artifact) } };
  return await store.patch(workspaceTemplates, { name }, { type: 'merge', body });
}

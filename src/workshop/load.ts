/** Reads a workshop's folder. All problems are found in one go, each with file, line and what helps. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type StepDefinition, stepSchema, type WorkshopDefinition, workshopSchema } from './definition.ts';
import { type Check, gossChecks, gossSchema } from './goss.ts';
import type { Problem } from './problem.ts';
import { checkYaml } from './yaml-file.ts';

export interface StepFile {
  path: string;
  content: Buffer;
  mode: string;
}

export interface Step extends Omit<StepDefinition, 'files' | 'checks'> {
  id: string;
  content: string;
  hints?: string;
  explain?: string;
  solution?: string;
  files: StepFile[];
  checks: Check[];
  /** YAML of all files in `manifests/`. */
  manifests?: string;
}

export interface Workshop extends Omit<WorkshopDefinition, 'steps'> {
  folder: string;
  steps: Step[];
  /** Text of `base.containerFile`. */
  containerFile?: string;
}

export interface Loaded {
  workshop?: Workshop;
  problems: Problem[];
}

const FILE_MAX = 256 * 1024;

export async function loadWorkshop(folder: string): Promise<Loaded> {
  const text = await readText(join(folder, 'workshop.yaml'));
  if (text === undefined) {
    const fix = 'name the folder of a workshop; see examples/kubernetes-101';
    const isThere = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const message = isThere ? `does not exist in ${folder}` : `${folder} is no folder`;
    return { problems: [{ file: 'workshop.yaml', field: '', message, fix }] };
  }
  const { value, problems } = checkYaml('workshop.yaml', text, workshopSchema);
  if (!value) return { problems };
  const loaded = await Promise.all(value.steps.map((id) => loadStep(folder, id, value.steps)));
  problems.push(...loaded.flatMap((step) => step.problems));
  const containerFile = value.base?.containerFile;
  const recipe = containerFile ? await readText(join(folder, containerFile)) : undefined;
  if (containerFile && recipe === undefined) {
    problems.push({ file: 'workshop.yaml', field: 'base.containerFile', message: `${containerFile} does not exist` });
  }
  problems.push(...(await strangers(folder, value.steps)));
  if (problems.length > 0) return { problems };
  const steps = loaded.map((step) => step.step as Step);
  return { workshop: { ...value, folder, steps, ...(recipe ? { containerFile: recipe } : {}) }, problems };
}

async function loadStep(
  folder: string,
  id: string,
  all: readonly string[],
): Promise<{ step?: Step; problems: Problem[] }> {
  const home = join('steps', id);
  const file = join(home, 'step.yaml');
  const read = (name: string) => readText(join(folder, home, name));
  const text = await read('step.yaml');
  if (text === undefined) {
    const fix = `write it, or remove ${id} from the steps of workshop.yaml`;
    return { problems: [{ file, field: '', message: 'does not exist', fix }] };
  }
  const { value, problems } = checkYaml(file, text, stepSchema);
  const content = await read('content.md');
  if (content === undefined) {
    problems.push({
      file: join(home, 'content.md'),
      field: '',
      message: 'does not exist',
      fix: 'write the instructions',
    });
  }
  const goss = await read('goss.yaml');
  const checked = goss === undefined ? undefined : checkYaml(join(home, 'goss.yaml'), goss, gossSchema);
  problems.push(...(checked?.problems ?? []));
  for (const [index, other] of (value?.requires ?? []).entries()) {
    if (all.includes(other) && all.indexOf(other) < all.indexOf(id)) continue;
    const message = all.includes(other) ? `${other} does not come before ${id}` : `there is no step ${other}`;
    problems.push({ file, field: `requires[${index}]`, message, fix: 'name a step that comes earlier' });
  }
  const files = value ? await loadFiles(join(folder, home), file, value, problems) : [];
  const manifests = await loadManifests(join(folder, home, 'manifests'), join(home, 'manifests'), problems);
  if (!value || content === undefined || problems.length > 0) return { problems };
  const [hints, explain, solution] = await Promise.all([read('hints.md'), read('explain.md'), read('solve.md')]);
  const { files: _, checks: own = [], ...rest } = value;
  const checks = [...own, ...(checked?.value ? gossChecks(checked.value) : [])];
  return {
    step: {
      ...rest,
      id,
      content,
      files,
      checks,
      ...(hints ? { hints } : {}),
      ...(explain ? { explain } : {}),
      ...(solution ? { solution } : {}),
      ...(manifests ? { manifests } : {}),
    },
    problems,
  };
}

async function loadFiles(
  folder: string,
  file: string,
  { files = [] }: StepDefinition,
  problems: Problem[],
): Promise<StepFile[]> {
  const found: StepFile[] = [];
  for (const [index, { source, target = basename(source), mode }] of files.entries()) {
    const path = join(folder, source);
    const field = `files[${index}].source`;
    if (relative(folder, path).startsWith('..')) {
      problems.push({ file, field, message: `${source} is outside the folder of the step`, fix: 'copy it there' });
      continue;
    }
    const state = await stat(path).catch(() => undefined);
    if (!state?.isFile()) {
      problems.push({ file, field, message: `${source} is no file in the folder of the step` });
    } else if (state.size > FILE_MAX) {
      const message = `${source} has ${state.size} bytes, more than ${FILE_MAX}`;
      problems.push({ file, field, message, fix: 'put it into the base image' });
    } else {
      const permissions = mode ?? (state.mode & 0o111 ? '0755' : '0644');
      found.push({ path: target, content: await readFile(path), mode: permissions.padStart(4, '0') });
    }
  }
  return found;
}

async function loadManifests(folder: string, name: string, problems: Problem[]): Promise<string | undefined> {
  const names = (await readdir(folder).catch(() => [] as string[])).filter((file) => /\.ya?ml$/.test(file)).sort();
  const texts: string[] = [];
  for (const file of names) {
    const text = (await readText(join(folder, file))) ?? '';
    const { parseAllDocuments } = await import('yaml');
    const documents = parseAllDocuments(text);
    for (const document of Array.isArray(documents) ? documents : []) {
      const [error] = document.errors;
      if (error) problems.push({ file: join(name, file), field: '', message: error.message.split('\n')[0] as string });
    }
    texts.push(text.trim());
  }
  return texts.length > 0 ? `${texts.join('\n---\n')}\n` : undefined;
}

/** Folders of steps that the workshop does not name are usually a forgotten line. */
async function strangers(folder: string, steps: readonly string[]): Promise<Problem[]> {
  const entries = await readdir(join(folder, 'steps'), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !steps.includes(entry.name))
    .map((entry) => ({
      file: 'workshop.yaml',
      field: 'steps',
      message: `the folder steps/${entry.name} is not among them`,
      fix: 'add it or remove the folder',
    }));
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

// vcluster's own chart, rendered by helm, in a form that can be compared with our objects: what says nothing left out, rights as plain facts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../../src/api/object.ts';
import { isBranch, type Json, type JsonObject } from '../../../src/provisioners/vcluster/json-tree.ts';
import { folderOf } from '../../bed/cache.ts';
import { program } from '../../bed/environment.ts';
import { run } from '../../bed/process.ts';
import { kubernetesVersion } from '../../bed/versions.ts';

export async function renderChart(
  folder: string,
  { name, namespace, config }: { name: string; namespace: string; config: JsonObject },
): Promise<KubeObject[]> {
  const values = join(folder, 'values.yaml');
  writeFileSync(values, stringify(config));
  const chart = join(folderOf('vcluster'), 'keep/chart');
  const args = ['template', name, chart, '--namespace', namespace, '--kube-version', kubernetesVersion, '-f', values];
  const text = await run(program('helm', 'helm'), args);
  return parseAllDocuments(text)
    .map((document) => document.toJSON() as KubeObject | null)
    .filter((object) => object !== null);
}

export const configOf = (objects: KubeObject[]): JsonObject => {
  const secret = objects.find(({ kind }) => kind === 'Secret');
  return parse(Buffer.from(secret?.data['config.yaml'], 'base64').toString()) as JsonObject;
};

/** Without what means the same as nothing: false, 0, empty. */
export function meaningful(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.length > 0 ? value.map((item) => meaningful(item) ?? null) : undefined;
  if (!isBranch(value)) return value === false || value === 0 || value === '' || value === null ? undefined : value;
  const kept = Object.entries(value)
    .map(([key, item]) => [key, meaningful(item)] as const)
    .filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return kept.length > 0 ? Object.fromEntries(kept.sort(([a], [b]) => a.localeCompare(b))) : undefined;
}

/** `get /pods`, `watch apps/deployments`: who grants the same lines grants the same. */
export function rights(object: KubeObject): string[] {
  const rules = (object.rules ?? []) as { apiGroups: string[]; resources: string[]; verbs: string[] }[];
  const lines = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))),
  );
  return [...new Set(lines)].sort();
}

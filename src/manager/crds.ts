/** The CustomResourceDefinitions a manager works with: are they there, and do they know the fields we write? */
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../api/object.ts';
import { customResourceDefinitions } from '../api/resources.ts';
import { RookeryError } from '../errors.ts';
import { ignoreNotFound, type ObjectStore, type ResourceRef, waitForCondition } from '../kube/index.ts';

const GENERATED = new URL('../api/generated/crds.json', import.meta.url);
const ESTABLISH_MS = 60_000;

export function crdName(resource: Pick<ResourceRef, 'plural' | 'group'>): string {
  return `${resource.plural}.${resource.group}`;
}

/** As generated from our schemas. */
export function ourCrds(resources: readonly ResourceRef[]): KubeObject[] {
  const { crds } = JSON.parse(readFileSync(GENERATED, 'utf8')) as { crds: KubeObject[] };
  const wanted = new Set(resources.map(crdName));
  return crds.filter((crd) => wanted.has(crd.metadata.name as string));
}

export async function installCrds(
  store: ObjectStore,
  resources: readonly ResourceRef[],
  signal?: AbortSignal,
): Promise<void> {
  for (const crd of ourCrds(resources)) {
    await store.apply(customResourceDefinitions, crd, { fieldManager: 'rookery', force: true, signal });
    const key = { name: crd.metadata.name as string };
    await waitForCondition(store, customResourceDefinitions, key, 'Established', { timeoutMs: ESTABLISH_MS, signal });
  }
}

/** Throws when one is missing, or is an older or other one than ours: what we wrote would be dropped without a word. */
export async function checkCrds(
  store: ObjectStore,
  resources: readonly ResourceRef[],
  signal?: AbortSignal,
): Promise<void> {
  const missing: string[] = [];
  const other: string[] = [];
  for (const crd of ourCrds(resources)) {
    const name = crd.metadata.name as string;
    const found = await store.get(customResourceDefinitions, { name }, { signal }).catch(ignoreNotFound);
    if (!found) missing.push(name);
    else if (!serves(found, crd)) other.push(name);
  }
  const all = [...missing, ...other];
  if (all.length === 0) return;
  const said = [
    missing.length > 0 ? `not installed: ${missing.join(', ')}` : '',
    other.length > 0 ? `of another version than this program: ${other.join(', ')}` : '',
  ];
  throw new RookeryError('manager.crds', `CustomResourceDefinitions are ${said.filter(Boolean).join('; ')}`, {
    class: 'user',
    hint: '`rookery manager manifests --only crds | kubectl apply --server-side -f -`, or start with --install-crds',
  });
}

/** Every part of ours is in it; what it has beyond that (newer fields, other words) does no harm. */
function serves(found: KubeObject, ours: KubeObject): boolean {
  const labels = found.metadata.labels ?? {};
  return (
    Object.entries(ours.metadata.labels ?? {}).every(([name, value]) => labels[name] === value) &&
    covers(found.spec, ours.spec)
  );
}

/** Not about what is stored. */
const PRESENTATION = new Set(['description', 'additionalPrinterColumns', 'shortNames', 'categories']);

function covers(found: unknown, wanted: unknown, key = ''): boolean {
  if (typeof wanted === 'string' || Array.isArray(wanted)) if (PRESENTATION.has(key)) return true;
  if (Array.isArray(wanted)) {
    // Entries with names (versions) may have others among them.
    const other = (entry: { name?: unknown } | null, i: number) =>
      typeof entry?.name === 'string'
        ? (found as { name?: unknown }[]).find((candidate) => candidate?.name === entry.name)
        : (found as unknown[])[i];
    return Array.isArray(found) ? wanted.every((entry, i) => covers(other(entry, i), entry)) : wanted.length === 0;
  }
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  // Go leaves out what is empty.
  if (typeof found !== 'object' || found === null) return found === undefined && Object.keys(wanted).length === 0;
  return Object.entries(wanted).every(([name, value]) => covers((found as Record<string, unknown>)[name], value, name));
}

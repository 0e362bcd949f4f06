/** Applies YAML to a cluster as `kubectl apply --server-side` would: every object, those that others need first. */
import type { KubeObject } from '../api/object.ts';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import type { RemoteStore } from './remote-store.ts';
import type { ResourceRef } from './store.ts';

export interface ApplyManifestsOptions {
  fieldManager: string;
  /** For objects that name none. */
  namespace?: string;
  signal?: AbortSignal;
  clock?: Clock;
}

const FIRST = ['Namespace', 'CustomResourceDefinition'];
/** A definition that was just made is served a moment later. */
const SERVED_WITHIN_MS = 5000;
const POLL_MS = 100;

export async function applyManifests(
  store: RemoteStore,
  text: string,
  { fieldManager, namespace = 'default', signal, clock = systemClock }: ApplyManifestsOptions,
): Promise<KubeObject[]> {
  const known = new Map<string, ResourceRef[]>();
  const find = async ({ apiVersion, kind }: KubeObject): Promise<ResourceRef> => {
    for (const end = clock.now() + SERVED_WITHIN_MS; ; ) {
      const found = known.get(apiVersion)?.find((resource) => resource.kind === kind);
      if (found) return found;
      if (clock.now() > end) throw unknownKind(apiVersion, kind);
      if (known.has(apiVersion)) await sleep(clock, POLL_MS, signal);
      known.set(apiVersion, await store.discover(apiVersion, signal));
    }
  };
  const applied: KubeObject[] = [];
  for (const object of (await objectsOf(text)).sort((a, b) => rank(a) - rank(b))) {
    const resource = await find(object);
    const { metadata } = object;
    const placed = resource.namespaced ? { ...object, metadata: { namespace, ...metadata } } : object;
    applied.push(await store.apply(resource, placed, { fieldManager, force: true, signal }));
  }
  return applied;
}

/** The objects of a YAML text; lists are opened, empty documents skipped. */
export async function objectsOf(text: string): Promise<KubeObject[]> {
  // Most processes never read any: a start would take longer by the loading of the library.
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    // The lines after the first show the place.
    if (error) throw new RookeryError('manifests.yaml', error.message.replace(/:?\n[\s\S]*/, ''), { class: 'user' });
    const value = document.toJS() as KubeObject | null;
    if (!value) return [];
    const objects = value.kind === 'List' ? ((value.items ?? []) as KubeObject[]) : [value];
    const wrong = objects.find((object) => !object.apiVersion || !object.kind || !object.metadata?.name);
    if (wrong) {
      const message = `an object has no apiVersion, kind or metadata.name: ${JSON.stringify(wrong).slice(0, 200)}`;
      throw new RookeryError('manifests.object', message, { class: 'user' });
    }
    return objects;
  });
}

function rank({ kind }: KubeObject): number {
  const index = FIRST.indexOf(kind);
  return index < 0 ? FIRST.length : index;
}

function unknownKind(apiVersion: string, kind: string): RookeryError {
  return new RookeryError('manifests.kind', `the cluster serves no ${kind} in ${apiVersion}`, {
    class: 'user',
    hint: 'check apiVersion and kind, or apply its CustomResourceDefinition first',
  });
}

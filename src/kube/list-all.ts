/** Reads a whole list page by page; a list that expires under way is read again in one piece. */
import type { KubeList, KubeObject } from '../api/object.ts';
import { isExpired } from './kube-error.ts';
import type { ListOptions, ObjectStore, ResourceRef } from './store.ts';

const PAGE = 500;

/** All items, as of one resource version: `metadata.resourceVersion`. */
export async function listAll<T extends KubeObject = KubeObject>(
  store: ObjectStore,
  resource: ResourceRef,
  options: Omit<ListOptions, 'continue'> = {},
): Promise<KubeList<T>> {
  const { limit = PAGE, ...rest } = options;
  const first = await store.list<T>(resource, { ...rest, limit });
  // Of the options, only the selection may accompany a continue token.
  const { resourceVersion: _, resourceVersionMatch: __, ...next } = rest;
  const items = first.items;
  let token = first.metadata.continue;
  try {
    while (token) {
      const page: KubeList<T> = await store.list<T>(resource, { ...next, limit, continue: token });
      for (const item of page.items) items.push(item);
      token = page.metadata.continue;
    }
  } catch (error) {
    // The server offers to go on at a newer version, which would mix two states.
    if (!isExpired(error)) throw error;
    return await store.list<T>(resource, next);
  }
  const { resourceVersion } = first.metadata;
  return { ...first, metadata: { resourceVersion }, items };
}

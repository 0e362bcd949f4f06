/** The namespace that was made for one workspace, and goes with it. One that somebody chose for it stays. */
import type { KubeObject } from '../../api/object.ts';
import { namespaces } from '../../api/resources.ts';
import { ignoreNotFound, isAlreadyExists, type ObjectStore } from '../../kube/index.ts';

const OF_WORKSPACE = 'workshop.platform/namespace-of';

/** Without `workspace` it is nobody's own. */
export async function ensureNamespace(store: ObjectStore, namespace: string, workspace?: string): Promise<void> {
  const metadata = { name: namespace, ...(workspace ? { annotations: { [OF_WORKSPACE]: workspace } } : {}) };
  const options = { fieldManager: 'rookery' };
  await store.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }, options).catch((error) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

export async function removeOwnNamespace(
  store: ObjectStore,
  { metadata }: KubeObject,
  signal?: AbortSignal,
): Promise<void> {
  const key = { name: metadata.namespace as string };
  const found = await store.get(namespaces, key, { signal }).catch(ignoreNotFound);
  if (found?.metadata.annotations?.[OF_WORKSPACE] !== metadata.name) return;
  await store.delete(namespaces, key, { signal }).catch(ignoreNotFound);
}

/** Finding workspaces: each lives in a namespace of its own, so its name is enough. */
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances } from '../api/resources.ts';
import { RookeryError } from '../errors.ts';
import { ignoreNotFound, listAll, type ObjectStore } from '../kube/index.ts';

export function namespaceOf(name: string): string {
  return `ws-${name}`;
}

export async function findWorkspace(store: ObjectStore, name: string, namespace?: string): Promise<KubeObject> {
  const key = { namespace: namespace ?? namespaceOf(name), name };
  const usual = await store.get(workspaceInstances, key).catch(ignoreNotFound);
  if (usual) return usual;
  const all = namespace ? [] : (await listAll(store, workspaceInstances)).items;
  const found = all.filter((instance) => instance.metadata.name === name);
  if (found.length === 1) return found[0] as KubeObject;
  if (found.length === 0) {
    throw new RookeryError('workspace.missing', `there is no workspace ${JSON.stringify(name)}`, {
      class: 'user',
      hint: 'see `rookery workspace list`',
    });
  }
  const places = found.map(({ metadata }) => metadata.namespace).join(', ');
  throw new RookeryError('workspace.ambiguous', `there are workspaces ${name} in ${places}`, {
    class: 'user',
    hint: 'say which one with --namespace',
  });
}

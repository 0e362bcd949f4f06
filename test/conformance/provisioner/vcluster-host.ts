// What is in a host cluster that was not there before: every kind that a vcluster could leave something in. (Pods by which local volumes are cleaned belong to
// the host.)
import type { ObjectStore, ResourceRef } from '../../../src/kube/index.ts';
import * as host from '../../../src/provisioners/vcluster/host-resources.ts';

const KINDS: ResourceRef[] = Object.values(host).filter(
  (resource) => !['Event', 'Endpoints', 'Node'].includes(resource.kind),
);

export async function hostLeftovers(store: ObjectStore): Promise<() => Promise<string[]>> {
  const list = async (): Promise<string[]> => {
    const found = await Promise.all(KINDS.map((resource) => store.list(resource)));
    return found
      .flatMap(({ items }) => items)
      .filter(({ metadata }) => !metadata.name?.startsWith('helper-pod-'))
      .map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace ? `${namespace}/` : ''}${name}`)
      .sort();
  };
  const before = new Set(await list());
  return async () => (await list()).filter((name) => !before.has(name));
}

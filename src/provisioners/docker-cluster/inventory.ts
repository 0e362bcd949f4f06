/** All containers of a tool that bear somebody's mark, or belong to a cluster of which one does. */
import type { Docker } from '../../tools/docker.ts';
import type { FoundThing } from '../provisioner.ts';
import type { ClusterTool } from './cluster-tool.ts';

export async function inventory<Spec extends { clusterName: string }>(
  docker: Docker,
  { clusterLabel, ownerOf }: ClusterTool<Spec>,
  signal?: AbortSignal,
): Promise<FoundThing<Spec>[]> {
  const containers = await docker.containers(clusterLabel, signal);
  const owners = new Map<string | undefined, string>();
  for (const container of containers) {
    const owner = ownerOf(container);
    if (owner) owners.set(container.labels[clusterLabel], owner);
  }
  return containers.flatMap((container) => {
    const name = container.labels[clusterLabel] ?? '';
    const id = ownerOf(container) ?? owners.get(name);
    return id ? [{ ref: { id, name, spec: { clusterName: name } as Spec }, what: `container ${container.name}` }] : [];
  });
}

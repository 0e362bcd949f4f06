// What kind leaves: its containers, and a network that all its clusters share.
import type { Engine } from './engine.ts';

/** Names of containers of kind with these beginnings, and the network if nobody else uses it. */
export async function kindLeftovers(docker: Engine, prefix: string, isShared = false): Promise<string[]> {
  const others = (await docker.docker('ps', '-a', '--filter', 'label=io.x-k8s.kind.cluster', '--format', '{{.Names}}'))
    .split('\n')
    .filter((name) => name && !name.startsWith(prefix));
  return [
    ...(await docker.found(prefix)),
    ...(others.length === 0 && !isShared && (await hasKindNetwork(docker)) ? ['network kind'] : []),
  ];
}

export async function hasKindNetwork(docker: Engine): Promise<boolean> {
  return (await docker.docker('network', 'ls', '--format', '{{.Name}}')).split('\n').includes('kind');
}

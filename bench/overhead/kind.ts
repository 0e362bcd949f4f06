import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kubernetesVersion } from '../../test/bed/versions.ts';
import { type Bench, type Contender, containersMiB } from './contender.ts';

export function kind(bench: Bench): Contender {
  const { docker, folder } = bench;
  const image = `kindest/node:${kubernetesVersion}`;
  const kubeconfig = join(folder, 'kind.kubeconfig');
  return {
    name: 'kind',
    images: ['node-image'],
    expects: { nodes: 1, hasNetwork: true, place: 'this machine' },
    ask: (product, name) => product.run('cluster', 'create', name, '-p', 'kind', '--image', image),
    async make(name) {
      await docker.run('kind', 'create', 'cluster', '--name', name, '--image', image, '--kubeconfig', kubeconfig);
      return readFileSync(kubeconfig, 'utf8');
    },
    remove: async (name) => {
      await docker.run('kind', 'delete', 'cluster', '--name', name, '--kubeconfig', kubeconfig);
    },
    memoryMiB: (name) => containersMiB(bench, `${name}-control-plane`),
    close: async () => {},
  };
}

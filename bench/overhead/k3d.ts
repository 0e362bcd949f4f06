import { rmSync } from 'node:fs';
import { imageTag } from '../../src/tools/versions.ts';
import { program } from '../../test/bed/environment.ts';
import { run } from '../../test/bed/process.ts';
import { freePorts } from '../../test/bed/services/port.ts';
import { k3dVersion, k3sVersion } from '../../test/bed/versions.ts';
import { type Bench, type Contender, containersMiB } from './contender.ts';

export function k3d(bench: Bench): Contender {
  const { docker, folder } = bench;
  const image = `rancher/k3s:${imageTag(k3sVersion)}`;
  const tools = { K3D_IMAGE_TOOLS: `rookery-bed/k3d-tools:${k3dVersion.slice(1)}` };
  const env = { ...docker.env, ...tools, HOME: folder };
  const k3dRun = (...args: string[]) => run(program('k3d-cli', 'k3d'), args, { env, timeoutMs: 300_000 });
  return {
    name: 'k3d',
    images: ['k3s-image'],
    env: tools,
    expects: { nodes: 1, hasNetwork: true, place: 'this machine' },
    ask: (product, name) => product.run('cluster', 'create', name, '-p', 'k3d', '--image', image),
    async make(name) {
      const apart = ['--kubeconfig-update-default=false', '--kubeconfig-switch-context=false'];
      const [port] = await freePorts(1);
      // Rookery makes one server without a load balancer, so the other side does, too.
      await k3dRun('cluster', 'create', name, '--image', image, '--no-lb', '--api-port', `127.0.0.1:${port}`, ...apart);
      return await k3dRun('kubeconfig', 'get', name);
    },
    remove: async (name) => {
      await k3dRun('cluster', 'delete', name);
    },
    memoryMiB: (name) => containersMiB(bench, `k3d-${name}-`),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

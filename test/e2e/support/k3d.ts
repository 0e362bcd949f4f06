// k3d on the bed's engine: its own kubeconfig, its helper image, nothing of the person's own configuration touched.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../bed/cache.ts';
import { program } from '../../bed/environment.ts';
import { run } from '../../bed/process.ts';
import { freePorts } from '../../bed/services/port.ts';
import { k3dVersion, k3sVersion } from '../../bed/versions.ts';
import type { Engine } from './engine.ts';
import { Kubectl } from './kubectl.ts';

export interface K3d {
  readonly kubectl: Kubectl;
  run(...args: string[]): Promise<string>;
  create(...args: string[]): Promise<void>;
  remove(): Promise<void>;
}

export function k3d(docker: Engine, name: string): K3d {
  const folder = scratch('k3d');
  const env = {
    ...docker.env,
    HOME: folder, // k3d writes ~/.config and temporary copies of its configuration, which hold the cluster's token
    TMPDIR: folder,
    KUBECONFIG: join(folder, 'unused'),
    K3D_IMAGE_TOOLS: `rookery-bed/k3d-tools:${k3dVersion.slice(1)}`,
    LOG_COLORS: '0',
  };
  const kubectl = new Kubectl(join(folder, 'kubeconfig'));
  const k3dRun = (...args: string[]): Promise<string> =>
    run(program('k3d-cli', 'k3d'), args, { env, timeoutMs: 240_000 });
  return {
    kubectl,
    run: k3dRun,
    create: async (...args) => {
      const [port] = await freePorts(1);
      const image = `rancher/k3s:${k3sVersion.replace('+', '-')}`;
      const quiet = [
        '--k3s-arg',
        '--disable=traefik@server:*',
        '--k3s-arg',
        '--disable=servicelb@server:*',
        '--k3s-arg',
        '--disable=metrics-server@server:*',
      ];
      await k3dRun(
        'cluster',
        'create',
        name,
        '--image',
        image,
        '--no-lb',
        '--api-port',
        `127.0.0.1:${port}`,
        '--kubeconfig-update-default=false',
        '--kubeconfig-switch-context=false',
        '--timeout',
        '180s',
        ...quiet,
        ...args,
      );
      await k3dRun('kubeconfig', 'write', name, '--output', kubectl.kubeconfig);
    },
    remove: async () => {
      await k3dRun('cluster', 'delete', name).catch(() => {});
      // k3d forgets these when a creation was cut short.
      await docker.try('docker', 'network', 'rm', `k3d-${name}`);
      await docker.try('docker', 'volume', 'rm', `k3d-${name}-images`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// The bed's engine as k3d needs it: its helper and its proxy are stand-ins of the bed's own.
import { k3dVersion } from '../../bed/versions.ts';
import { type Engine, engine } from './engine.ts';

export interface K3dEngine extends Engine {
  /** Containers, networks and volumes of k3d clusters whose names begin so. */
  leftOf(prefix: string): Promise<string[]>;
}

export async function k3dEngine(prefix: string, ...images: string[]): Promise<K3dEngine> {
  const docker = await engine('k3s-image', ...images);
  await docker.clear(`k3d-${prefix}`);
  const env = {
    ...docker.env,
    K3D_IMAGE_TOOLS: `rookery-bed/k3d-tools:${k3dVersion.slice(1)}`,
    K3D_IMAGE_LOADBALANCER: `rookery-bed/k3d-proxy:${k3dVersion.slice(1)}`,
  };
  return { ...docker, env, leftOf: (names) => docker.found(`k3d-${names}`) };
}

/** Pods whose images the bed does not have stay out. */
export const quiet = ['traefik', 'servicelb', 'metrics-server'].map((name) => ({ arg: `--disable=${name}` }));

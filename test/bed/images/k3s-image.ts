// k3s as its published image is laid out for users (entrypoint, volumes, names), on a Debian root with everything k3s calls,
// and with the images of its system pods beside it: k3s imports them at its first start.
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderOf, scratch } from '../cache.ts';
import { program } from '../environment.ts';
import { run } from '../process.ts';
import type { Recipe } from '../sources/image.ts';
import { k3dVersion } from '../versions.ts';
import { layerOf, writeArchive } from './archive.ts';
import { k3dToolsImage } from './k3d-tools-image.ts';
import { busyboxImage, corednsImage, localPathImage, pauseImage } from './small-images.ts';

const here = dirname(fileURLToPath(import.meta.url));
const volumes = ['/var/lib/kubelet', '/var/lib/rancher/k3s', '/var/lib/cni', '/var/log'];

export const k3sImage: Recipe = async ({ part, output }) => {
  const work = scratch('k3s-image');
  const root = join(work, 'root');
  cpSync(join(here, 'k3s/root'), root, { recursive: true });
  const install = (file: string, target: string): void => {
    mkdirSync(dirname(join(root, target)), { recursive: true });
    copyFileSync(file, join(root, target));
    chmodSync(join(root, target), 0o755);
  };
  install(program('k3s', 'k3s'), 'usr/bin/k3s');
  for (const name of ['kubectl', 'crictl', 'ctr', 'containerd']) symlinkSync('k3s', join(root, 'usr/bin', name));
  install(program('docker', 'containerd-shim-runc-v2'), 'usr/bin/containerd-shim-runc-v2');
  // k3d's entrypoint uses signal names that Debian's usual /bin/sh refuses.
  symlinkSync('bash', join(root, 'usr/bin/sh'));
  mkdirSync(join(root, 'opt/cni'), { recursive: true });
  await run('cp', ['-a', join(folderOf('node-rootfs'), 'rootfs/usr/lib/cni'), join(root, 'opt/cni/bin')]);
  install(program('flannel-cni', 'flannel'), 'opt/cni/bin/flannel');

  const images = join(root, 'var/lib/rancher/k3s/agent/images');
  mkdirSync(images, { recursive: true });
  await writeArchive(join(images, 'system.tar'), [
    await pauseImage(['rancher/mirrored-pause:3.6']),
    await corednsImage(['rancher/mirrored-coredns-coredns:1.13.1']),
    await localPathImage(['rancher/local-path-provisioner:v0.0.32']),
    await busyboxImage(['rancher/mirrored-library-busybox:1.37.0', 'rookery-bed/busybox:1']),
  ]);

  await layerOf(root, join(work, 'layer.tar'));
  const ids = await writeArchive(join(output, 'image.tar'), [
    {
      tags: [`rancher/k3s:${part.version.replace('+', '-')}`],
      layers: [join(folderOf('node-rootfs'), 'layer.tar'), join(work, 'layer.tar')],
      config: {
        Entrypoint: ['/bin/k3s'],
        Cmd: ['agent'],
        // k3s finds its CNI plugins by looking host-local up on PATH.
        Env: [
          'PATH=/opt/cni/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          'CRI_CONFIG_FILE=/var/lib/rancher/k3s/agent/etc/crictl.yaml',
        ],
        Volumes: Object.fromEntries(volumes.map((volume) => [volume, {}])),
      },
    },
    await k3dToolsImage([`rookery-bed/k3d-tools:${k3dVersion.slice(1)}`]),
  ]);
  rmSync(work, { recursive: true, force: true });
  return ids;
};

// k3d puts its proxy, an nginx with a configuration written from a template, in front of several servers. Under its name stands haproxy and a script that reads
// the same file.
import { chmodSync, copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratch } from '../cache.ts';
import type { Recipe } from '../sources/image.ts';
import { layerOf, writeArchive } from './archive.ts';
import { addBusybox, addWithLibraries, emptyRoot } from './slim-root.ts';
import { path } from './small-images.ts';

const here = dirname(fileURLToPath(import.meta.url));

export const k3dProxyImage: Recipe = async ({ part, output }) => {
  const folder = scratch('k3d-proxy');
  const root = join(folder, 'root');
  emptyRoot(root);
  await addWithLibraries(root, ['/usr/bin/bash', '/usr/sbin/haproxy']);
  await addBusybox(root);
  copyFileSync(join(here, 'k3d-proxy/serve'), join(root, 'usr/bin/serve'));
  chmodSync(join(root, 'usr/bin/serve'), 0o755);
  await layerOf(root, join(folder, 'layer.tar'));
  return writeArchive(join(output, 'image.tar'), [
    {
      tags: [`rookery-bed/k3d-proxy:${part.version}`],
      layers: [join(folder, 'layer.tar')],
      config: { Cmd: ['serve'], Env: [path] },
    },
  ]);
};

// kind puts envoy in front of several control planes. Debian has no envoy, so under its name stands haproxy and a script
// that turns the files kind writes for the one into the configuration of the other.
import { chmodSync, copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratch } from '../cache.ts';
import type { Recipe } from '../sources/image.ts';
import { layerOf, writeArchive } from './archive.ts';
import { addBusybox, addWithLibraries, emptyRoot } from './slim-root.ts';
import { path } from './small-images.ts';

const here = dirname(fileURLToPath(import.meta.url));

export const kindBalancerImage: Recipe = async ({ part, output }) => {
  const folder = scratch('kind-balancer');
  const root = join(folder, 'root');
  emptyRoot(root);
  await addWithLibraries(root, ['/usr/bin/bash', '/usr/sbin/haproxy']);
  await addBusybox(root);
  copyFileSync(join(here, 'kind-balancer/envoy'), join(root, 'usr/bin/envoy'));
  chmodSync(join(root, 'usr/bin/envoy'), 0o755);
  await layerOf(root, join(folder, 'layer.tar'));
  return writeArchive(join(output, 'image.tar'), [
    {
      tags: [`envoyproxy/envoy:${part.version}`],
      layers: [join(folder, 'layer.tar')],
      // kind runs it below a shell that, being the first process, hears no other signal; there is nothing to put away.
      config: { Cmd: ['envoy'], Env: [path], StopSignal: 'SIGKILL' },
    },
  ]);
};

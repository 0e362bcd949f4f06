// k3d starts a helper container with every cluster.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../cache.ts';
import { type Image, layerOf } from './archive.ts';
import { addBusybox, addWithLibraries, emptyRoot } from './slim-root.ts';
import { path } from './small-images.ts';

/** Stands in for k3d's helper: it is started with the word `noop`, must stay up, and be able to look names up. */
export async function k3dToolsImage(tags: readonly string[]): Promise<Image> {
  const folder = scratch('image');
  const root = join(folder, 'root');
  emptyRoot(root);
  await addWithLibraries(root, ['/usr/bin/getent']);
  await addBusybox(root);
  writeFileSync(
    join(root, 'usr/bin/noop'),
    '#!/bin/sh\ntrap "exit 0" TERM INT\nwhile :; do sleep 3600 & wait $!; done\n',
  );
  chmodSync(join(root, 'usr/bin/noop'), 0o755);
  await layerOf(root, join(folder, 'layer.tar'));
  return { tags, layers: [join(folder, 'layer.tar')], config: { Cmd: ['noop'], Env: [path] } };
}

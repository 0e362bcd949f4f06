// The images every kind of cluster starts: a static program each, and busybox.
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { scratch } from '../cache.ts';
import { program } from '../environment.ts';
import { type Image, layerOf } from './archive.ts';
import { addBusybox, emptyRoot } from './slim-root.ts';

export const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Nothing but one static program. */
export async function programImage(
  tags: readonly string[],
  file: string,
  entrypoint?: readonly string[],
): Promise<Image> {
  const folder = scratch('image');
  const name = basename(file);
  mkdirSync(join(folder, 'root/usr/local/bin'), { recursive: true });
  mkdirSync(join(folder, 'root/tmp'));
  copyFileSync(file, join(folder, 'root/usr/local/bin', name));
  chmodSync(join(folder, 'root/usr/local/bin', name), 0o755);
  await layerOf(join(folder, 'root'), join(folder, 'layer.tar'));
  return {
    tags,
    layers: [join(folder, 'layer.tar')],
    config: { Entrypoint: entrypoint ?? [`/usr/local/bin/${name}`], Env: [path] },
  };
}

/** Busybox with its applets: the helper of volumes and every test's pod. */
export async function busyboxImage(tags: readonly string[]): Promise<Image> {
  const folder = scratch('image');
  const root = join(folder, 'root');
  emptyRoot(root);
  await addBusybox(root);
  await layerOf(root, join(folder, 'layer.tar'));
  return { tags, layers: [join(folder, 'layer.tar')], config: { Cmd: ['/bin/sh'], Env: [path] } };
}

export const localPathImage = (tags: readonly string[]): Promise<Image> =>
  programImage(tags, program('local-path-provisioner', 'local-path-provisioner'));
export const corednsImage = (tags: readonly string[]): Promise<Image> =>
  programImage(tags, program('coredns', 'coredns'));
export const pauseImage = (tags: readonly string[]): Promise<Image> =>
  programImage(tags, program('small-programs', 'pause'));

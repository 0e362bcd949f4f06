// vcluster's two images: the syncer, and the folder of Kubernetes binaries that its init container copies out with `cp`.
// They are named without a registry, so a chart's `registry` value has to be set to the empty string.
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../cache.ts';
import { program } from '../environment.ts';
import type { Recipe } from '../sources/image.ts';
import { kubernetesVersion } from '../versions.ts';
import { layerOf, writeArchive } from './archive.ts';
import { addBusybox, addWithLibraries, emptyRoot } from './slim-root.ts';
import { path } from './small-images.ts';

export const vclusterImages: Recipe = async ({ part, output }) => {
  const work = scratch('vcluster-images');
  const base = join(work, 'base');
  emptyRoot(base);
  await addWithLibraries(base, ['/usr/bin/getent']);
  await addBusybox(base);
  await layerOf(base, join(work, 'base.tar'));

  const copy = (file: string, target: string): void => {
    copyFileSync(file, target);
    chmodSync(target, 0o755);
  };
  const syncer = join(work, 'syncer');
  mkdirSync(syncer);
  copy(program('vcluster', 'vcluster'), join(syncer, 'vcluster'));
  await layerOf(syncer, join(work, 'syncer.tar'));

  const kubernetes = join(work, 'kubernetes');
  mkdirSync(join(kubernetes, 'kubernetes'), { recursive: true });
  for (const name of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])
    copy(program('kubernetes', name), join(kubernetes, 'kubernetes', name));
  copy(program('kine', 'kine'), join(kubernetes, 'kubernetes/kine'));
  copy(program('helm', 'helm'), join(kubernetes, 'kubernetes/helm'));
  await layerOf(kubernetes, join(work, 'kubernetes.tar'));

  const ids = await writeArchive(join(output, 'image.tar'), [
    {
      tags: [`loft-sh/vcluster-oss:${part.version}`],
      layers: [join(work, 'base.tar'), join(work, 'syncer.tar')],
      config: { Entrypoint: ['/vcluster', 'start'], Env: [path], WorkingDir: '/' },
    },
    {
      tags: [`loft-sh/kubernetes:${kubernetesVersion}`],
      layers: [join(work, 'base.tar'), join(work, 'kubernetes.tar')],
      config: { Cmd: ['/bin/sh'], Env: [path] },
    },
  ]);
  rmSync(work, { recursive: true, force: true });
  return ids;
};

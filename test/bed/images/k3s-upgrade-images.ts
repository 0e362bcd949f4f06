// What k3s's own archive of images has for machines without a registry, as far as its system pods here ask for it, and the pods of tests. One
// archive for both releases: they name the same images.
import { join } from 'node:path';
import type { Recipe } from '../sources/image.ts';
import { writeArchive } from './archive.ts';
import { busyboxImage, corednsImage, localPathImage, pauseImage } from './small-images.ts';

export const k3sUpgradeImages: Recipe = async ({ output }) =>
  writeArchive(join(output, 'image.tar'), [
    await pauseImage(['rancher/mirrored-pause:3.6']),
    await corednsImage(['rancher/mirrored-coredns-coredns:1.12.0']),
    await localPathImage(['rancher/local-path-provisioner:v0.0.30']),
    await busyboxImage(['rancher/mirrored-library-busybox:1.36.1', 'rookery-bed/busybox:1']),
  ]);

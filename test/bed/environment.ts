// The environment in which the bed's tools are found: each present part's program folders before the machine's own.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { folderOf, isPresent } from './cache.ts';
import { catalog } from './catalog.ts';

/** Where a program of a part lies. */
export const program = (part: string, name: string): string => {
  const folder = folderOf(part);
  for (const place of ['bin', 'usr/bin', 'usr/sbin'])
    if (existsSync(join(folder, place, name))) return join(folder, place, name);
  throw new Error(`${part} has no program ${name}; is it built? (make bed PARTS=${part})`);
};

export function bedEnvironment(): NodeJS.ProcessEnv {
  const folders = catalog
    // The older Kubernetes would hide the newer one's programs; who wants it asks for it by part.
    .filter(
      (part) =>
        part.source.from !== 'apt' &&
        part.source.from !== 'rootfs' &&
        part.name !== 'kubernetes-previous' &&
        isPresent(part),
    )
    .flatMap((part) => ['bin', 'usr/bin', 'usr/sbin'].map((place) => join(folderOf(part.name), place)))
    .filter((folder) => existsSync(folder));
  return { ...process.env, PATH: [...folders, process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter) };
}

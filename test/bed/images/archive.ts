// Container images without an engine: an image archive is a tar of layer tars, a config and a manifest. Docker, ctr and
// k3s all load this form. Layers are not compressed: on two cores, inflating them costs more than writing them.
import { createHash } from 'node:crypto';
import { createReadStream, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../cache.ts';
import { run } from '../process.ts';

export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly WorkingDir?: string;
  readonly Volumes?: Readonly<Record<string, object>>;
  readonly StopSignal?: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
}

export interface Image {
  readonly tags: readonly string[];
  readonly layers: readonly string[];
  readonly config: ImageConfig;
}

/** The same folder gives the same tar: order, times and owners are fixed. */
export async function tarFolder(folder: string, file: string, log?: string): Promise<void> {
  const fixed = [
    '--sort=name',
    '--mtime=@0',
    '--numeric-owner',
    '--xattrs',
    '--format=posix',
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
  ];
  await run('tar', [...fixed, '-C', folder, '-cf', file, '.'], log ? { log } : {});
}

/** A layer in which everything belongs to root, whoever laid the files out. */
export async function layerOf(folder: string, file: string): Promise<void> {
  await run('chown', ['-R', '0:0', folder]);
  await tarFolder(folder, file);
}

export async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Writes one archive with any number of images in it; layers that images share are stored once. */
export async function writeArchive(file: string, images: readonly Image[]): Promise<Record<string, string>> {
  const folder = scratch('archive');
  const ids: Record<string, string> = {};
  const manifest = [];
  const digests = new Map<string, string>();
  for (const image of images) {
    const layers: string[] = [];
    for (const layer of image.layers) {
      const digest = digests.get(layer) ?? (await sha256(layer));
      if (!digests.has(layer)) {
        mkdirSync(join(folder, digest), { recursive: true });
        try {
          linkSync(layer, join(folder, digest, 'layer.tar'));
        } catch (error) {
          if ((error as { code?: string }).code !== 'EEXIST') throw error; // two files with the same content
        }
        digests.set(layer, digest);
      }
      layers.push(digest);
    }
    const config = JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      created: '1970-01-01T00:00:00Z',
      config: image.config,
      rootfs: { type: 'layers', diff_ids: layers.map((digest) => `sha256:${digest}`) },
      history: layers.map(() => ({ created: '1970-01-01T00:00:00Z', created_by: 'rookery-bed' })),
    });
    const id = createHash('sha256').update(config).digest('hex');
    writeFileSync(join(folder, `${id}.json`), config);
    manifest.push({
      Config: `${id}.json`,
      RepoTags: image.tags,
      Layers: layers.map((digest) => `${digest}/layer.tar`),
    });
    for (const tag of image.tags) ids[tag] = `sha256:${id}`;
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  await run('tar', ['-C', folder, '-cf', `${file}.part`, '.']);
  renameSync(`${file}.part`, file);
  rmSync(folder, { recursive: true, force: true });
  return ids;
}

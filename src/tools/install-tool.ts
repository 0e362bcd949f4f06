/** A program fetched into Rookery's own folder: the release the catalog pins, checked before it is put in place, then asked for its version. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RookeryError } from '../errors.ts';
import { catalog, downloadFor, type ToolEntry } from './catalog.ts';
import { type DownloadOptions, download } from './download.ts';
import type { Processes } from './processes.ts';
import { findVersion, inRange, type Version } from './versions.ts';

export interface InstalledTool {
  name: string;
  path: string;
  version: Version;
}

export async function installTool(
  name: string,
  folder: string,
  processes: Processes,
  options: DownloadOptions & { entry?: ToolEntry } = {},
): Promise<InstalledTool> {
  const entry = options.entry ?? catalog().tools[name];
  if (!entry) throw unknown(name);
  const release = downloadFor(entry);
  if (!release) throw noDownload(name, entry);
  const path = join(folder, name);
  await download(release, path, { env: processes.env, ...options });
  const { stdout, stderr } = await processes.run(path, entry.version, { signal: options.signal });
  const version = findVersion(stdout);
  if (version && inRange(version, entry.range)) return { name, path, version };
  await rm(path, { force: true });
  throw new RookeryError(
    'tool.unusable',
    `${release.url} does not work here: ${(stderr || stdout).trim().split('\n')[0]}`,
    {
      hint: entry.install,
    },
  );
}

function unknown(name: string): RookeryError {
  return new RookeryError('tool.unknown', `there is no tool ${JSON.stringify(name)}`, {
    class: 'user',
    hint: `use one of ${Object.keys(catalog().tools).join(', ')}`,
  });
}

function noDownload(name: string, { install }: ToolEntry): RookeryError {
  const where = `${process.platform}/${process.arch}`;
  return new RookeryError(
    'tool.no-download',
    `no release of ${name} with a checksum we are sure of is known for ${where}`,
    {
      class: 'user',
      hint: install,
    },
  );
}

// The content-addressed store. A part's folder carries a hash of everything that decides its content, and appears by
// one rename when it is complete: a build that is killed leaves only a scratch folder, which the next one sweeps.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { partNamed } from './lookup.ts';
import type { Part } from './part.ts';
import { bedSource, modulesFolder, partsFolder, scratchFolder } from './paths.ts';
import { startTime } from './process.ts';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly key: string;
  readonly seconds: number;
  readonly builtAt: string;
  /** What exactly was taken, e.g. the full Debian versions a prefix resolved to. */
  readonly resolved: Readonly<Record<string, string>>;
}

const manifestName = 'bed-part.json';
const scratched: string[] = [];
const keys = new Map<string, string>();

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What the source says, the files that go into it, and the keys of all parts it is made from. */
export function keyOf(part: Part): string {
  const known = keys.get(part.name);
  if (known) return known;
  const hash = createHash('sha256');
  hash.update(JSON.stringify([part.name, part.version, part.source, process.arch]));
  const inputs: string[] = [];
  if (part.source.from === 'go') inputs.push(join(modulesFolder, part.source.folder));
  if (part.source.from === 'image') inputs.push(...part.source.inputs.map((input) => join(bedSource, 'images', input)));
  for (const input of inputs) {
    for (const file of statSync(input).isDirectory() ? files(input) : [input])
      hash.update(relative(bedSource, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  for (const need of part.needs ?? []) hash.update(keyOf(partNamed(need)));
  const key = hash.digest('hex').slice(0, 16);
  keys.set(part.name, key);
  return key;
}

export const pathOf = (part: Part): string => join(partsFolder, `${part.name}-${keyOf(part)}`);

/** Where a part keeps its things; for what is installed in the system itself that is the root folder. */
export const folderOf = (name: string): string => {
  const part = partNamed(name);
  return part.source.from === 'apt' ? '/' : pathOf(part);
};

export function isPresent(part: Part): boolean {
  if (part.source.from === 'apt') return part.check.every((file) => existsSync(file));
  const folder = pathOf(part);
  return existsSync(join(folder, manifestName)) && part.check.every((file) => existsSync(join(folder, file)));
}

export function manifestOf(part: Part): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(pathOf(part), manifestName), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** A folder of our own to build in, named after this process so that a later one knows whether it still lives. */
export function scratch(label: string): string {
  if (scratched.length === 0) {
    process.once('exit', () => {
      for (const folder of scratched) rmSync(folder, { recursive: true, force: true });
    });
  }
  const folder = join(scratchFolder, `${label}.${process.pid}.${startTime(process.pid)}.${scratched.length}`);
  scratched.push(folder);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Removes the scratch folders of processes that are no more. */
export function sweepScratch(): void {
  if (!existsSync(scratchFolder)) return;
  for (const name of readdirSync(scratchFolder)) {
    const [pid, started] = name.split('.').slice(-3);
    if (startTime(Number(pid)) !== started) rmSync(join(scratchFolder, name), { recursive: true, force: true });
  }
}

/** Makes a built folder the part, in one step. */
export function publish(part: Part, built: string, seconds: number, resolved: Record<string, string>): void {
  for (const file of part.check) {
    if (!existsSync(join(built, file))) throw new Error(`${part.name} was built but lacks ${file}`);
  }
  const manifest: Manifest = {
    name: part.name,
    version: part.version,
    key: keyOf(part),
    seconds,
    builtAt: new Date().toISOString(),
    resolved,
  };
  writeFileSync(join(built, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  mkdirSync(partsFolder, { recursive: true });
  // Something incomplete of the same name can only be a part somebody damaged by hand: put it out of the way first.
  if (existsSync(pathOf(part))) renameSync(pathOf(part), join(scratch('damaged'), part.name));
  renameSync(built, pathOf(part));
  removeSuperseded(part);
}

/** Old versions of a part go a day after they were built; until then another checkout may be running on them. */
function removeSuperseded(part: Part): void {
  const pattern = new RegExp(`^${part.name}-[0-9a-f]{16}$`);
  for (const name of readdirSync(partsFolder).filter((entry) => pattern.test(entry))) {
    const folder = join(partsFolder, name);
    const old = Date.now() - statSync(folder).mtimeMs > 24 * 3600 * 1000;
    if (folder !== pathOf(part) && old) rmSync(folder, { recursive: true, force: true });
  }
}

/** Parts in the cache that no catalog entry of this source tree names any more. */
export function unused(current: readonly Part[]): string[] {
  if (!existsSync(partsFolder)) return [];
  const kept = new Set(current.map((part) => `${part.name}-${keyOf(part)}`));
  return readdirSync(partsFolder)
    .filter((name) => !kept.has(name) && statSync(join(partsFolder, name)).isDirectory())
    .map((name) => join(partsFolder, name));
}

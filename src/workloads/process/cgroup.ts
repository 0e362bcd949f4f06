/** Limits of CPU, memory and number of processes by the kernel's control groups, where this process may make some. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quantityValue } from '../quantity.ts';

const ROOT = '/sys/fs/cgroup';
const PARENT = 'rookery-workspaces';
const PIDS_MAX = 512;
const PERIOD_US = 100_000;
/** So long without a shell or a check: another Rookery on this machine makes it again when it needs it. */
const STALE_MS = 3_600_000;

export interface Limits {
  cpu?: string;
  memory?: string;
}

/** Folders the shell joins; none where control groups are not ours to make. */
export async function limitGroups(id: string, limits: Limits = {}): Promise<string[]> {
  const cpu = limits.cpu === undefined ? undefined : quantityValue(limits.cpu);
  // More than the kernel can count is no limit.
  const memory =
    limits.memory === undefined
      ? undefined
      : Math.min(Math.floor(quantityValue(limits.memory)), Number.MAX_SAFE_INTEGER);
  try {
    const folders = isUnified() ? await unified(id, cpu, memory) : await classic(id, cpu, memory);
    const now = new Date();
    for (const folder of folders) await utimes(folder, now, now);
    return folders;
  } catch (error) {
    if (
      ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EBUSY', 'EOPNOTSUPP'].includes(
        (error as NodeJS.ErrnoException).code ?? '',
      )
    )
      return [];
    throw error;
  }
}

/** Ends whatever still runs in them, then removes them. */
export async function removeGroups(id: string): Promise<boolean> {
  const parents = parentFolders();
  const present = parents.map((parent) => join(parent, id)).filter((folder) => existsSync(folder));
  for (const folder of present) {
    for (let attempt = 0; ; attempt++) {
      const pids = (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean).map(Number);
      for (const pid of pids) kill(pid);
      try {
        await rmdir(folder);
        break;
      } catch (error) {
        if (attempt >= 50 || (error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }
  // The last one out takes the parents with it.
  for (const parent of parents) await rmdir(parent).catch(() => {});
  return present.length > 0;
}

/** What workspaces left whose home folder was deleted under them, by whichever Rookery: nobody runs in it, and nobody has for a while. */
export async function sweepGroups(known: ReadonlySet<string>): Promise<void> {
  for (const parent of parentFolders()) {
    const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((each) => each.isDirectory() && !known.has(each.name))) {
      const folder = join(parent, entry.name);
      const age = await stat(folder).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      // The kernel keeps one that somebody runs in.
      if (age > STALE_MS) await rmdir(folder).catch(() => {});
    }
  }
}

function parentFolders(): string[] {
  return isUnified() ? [join(ROOT, PARENT)] : ['cpu', 'memory', 'pids'].map((name) => join(ROOT, name, PARENT));
}

export function isUnified(): boolean {
  return existsSync(join(ROOT, 'cgroup.controllers'));
}

async function unified(id: string, cpu: number | undefined, memory: number | undefined): Promise<string[]> {
  const parent = join(ROOT, PARENT);
  await mkdir(join(parent, id), { recursive: true });
  await writeFile(join(parent, 'cgroup.subtree_control'), '+cpu +memory +pids');
  const folder = join(parent, id);
  await writeFile(join(folder, 'pids.max'), String(PIDS_MAX));
  if (memory !== undefined) await writeFile(join(folder, 'memory.max'), String(memory));
  if (cpu !== undefined) await writeFile(join(folder, 'cpu.max'), `${quotaOf(cpu)} ${PERIOD_US}`);
  return [folder];
}

async function classic(id: string, cpu: number | undefined, memory: number | undefined): Promise<string[]> {
  const settings: Record<string, Record<string, number>> = {
    pids: { 'pids.max': PIDS_MAX },
    ...(memory === undefined ? {} : { memory: { 'memory.limit_in_bytes': memory } }),
    ...(cpu === undefined ? {} : { cpu: { 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': quotaOf(cpu) } }),
  };
  const folders: string[] = [];
  for (const [controller, values] of Object.entries(settings)) {
    if (!existsSync(join(ROOT, controller))) continue;
    const folder = join(ROOT, controller, PARENT, id);
    await mkdir(folder, { recursive: true });
    for (const [name, value] of Object.entries(values)) await writeFile(join(folder, name), String(value));
    folders.push(folder);
  }
  return folders;
}

/** The kernel takes no less than a millisecond, and no more than it can count. */
function quotaOf(cpu: number): number {
  return Math.min(Math.max(1000, Math.ceil(cpu * PERIOD_US)), 2 ** 40);
}

function kill(pid: number): void {
  if (pid === 0) return; // Of a namespace that we do not see; to `kill` it would be ourselves.
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

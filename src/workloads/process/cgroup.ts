/** Limits of CPU, memory and number of processes by the kernel's control groups, where this process may make some. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quantityValue } from '../quantity.ts';

const ROOT = '/sys/fs/cgroup';
const PARENT = 'rookery-workspaces';
const PIDS_MAX = 512;
const PERIOD_US = 100_000;

export interface Limits {
  cpu?: string;
  memory?: string;
}

/** Folders the shell joins; none where control groups are not ours to make. */
export async function limitGroups(id: string, limits: Limits = {}): Promise<string[]> {
  const cpu = limits.cpu === undefined ? undefined : quantityValue(limits.cpu);
  const memory = limits.memory === undefined ? undefined : Math.floor(quantityValue(limits.memory));
  try {
    return isUnified() ? await unified(id, cpu, memory) : await classic(id, cpu, memory);
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
  const folders = isUnified()
    ? [join(ROOT, PARENT, id)]
    : ['cpu', 'memory', 'pids'].map((name) => join(ROOT, name, PARENT, id));
  const parents = [...new Set(folders.map((folder) => join(folder, '..')))];
  const present = folders.filter((folder) => existsSync(folder));
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
  if (cpu !== undefined) await writeFile(join(folder, 'cpu.max'), `${Math.ceil(cpu * PERIOD_US)} ${PERIOD_US}`);
  return [folder];
}

async function classic(id: string, cpu: number | undefined, memory: number | undefined): Promise<string[]> {
  const settings: Record<string, Record<string, number>> = {
    pids: { 'pids.max': PIDS_MAX },
    ...(memory === undefined ? {} : { memory: { 'memory.limit_in_bytes': memory } }),
    ...(cpu === undefined
      ? {}
      : { cpu: { 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': Math.max(1000, Math.ceil(cpu * PERIOD_US)) } }),
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

function kill(pid: number): void {
  if (pid === 0) return; // Of a namespace that we do not see; to `kill` it would be ourselves.
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Limits of CPU, memory and number of processes by the kernel's control groups, where this process may make some. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
const PARENT = 'rookery-workspaces';
const PIDS_MAX = 512;
const PERIOD_US = 100_000;
/** So long without a shell or a check: another Rookery on this machine makes it again when it needs it. */
const STALE_MS = 3_600_000;
const NOT_OURS = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EBUSY', 'EOPNOTSUPP'];

/** CPUs, and bytes of memory. */
export interface Limits {
  cpu?: number;
  memory?: number;
}

/** Folders whose `cgroup.procs` a process joins, and why a limit that was asked for does not hold. */
export interface Limited {
  groups: string[];
  why?: string;
}

export async function limitGroups(id: string, { cpu, memory }: Limits = {}): Promise<Limited> {
  // More than the kernel can count is no limit.
  const bytes = memory === undefined ? undefined : Math.min(Math.floor(memory), Number.MAX_SAFE_INTEGER);
  try {
    const limited = isUnified() ? await unified(id, cpu, bytes) : await classic(id, cpu, bytes);
    const now = new Date();
    for (const folder of limited.groups) await utimes(folder, now, now);
    return limited;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!NOT_OURS.includes(code)) throw error;
    return { groups: [], why: `control groups cannot be made: ${message}` };
  }
}

/** Ends whatever still runs in them, then removes them. */
export async function removeGroups(id: string): Promise<void> {
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

async function unified(id: string, cpu: number | undefined, memory: number | undefined): Promise<Limited> {
  const parent = join(ROOT, PARENT);
  await mkdir(join(parent, id), { recursive: true });
  await writeFile(join(parent, 'cgroup.subtree_control'), '+cpu +memory +pids');
  const folder = join(parent, id);
  await writeFile(join(folder, 'pids.max'), String(PIDS_MAX));
  if (memory !== undefined) await writeFile(join(folder, 'memory.max'), String(memory));
  if (cpu !== undefined) await writeFile(join(folder, 'cpu.max'), `${quotaOf(cpu)} ${PERIOD_US}`);
  return { groups: [folder] };
}

async function classic(id: string, cpu: number | undefined, memory: number | undefined): Promise<Limited> {
  const settings: Record<string, Record<string, number>> = {
    pids: { 'pids.max': PIDS_MAX },
    ...(memory === undefined ? {} : { memory: { 'memory.limit_in_bytes': memory } }),
    ...(cpu === undefined ? {} : { cpu: { 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': quotaOf(cpu) } }),
  };
  const groups: string[] = [];
  const absent = Object.keys(settings).filter((controller) => !existsSync(join(ROOT, controller)));
  for (const [controller, values] of Object.entries(settings)) {
    if (absent.includes(controller)) continue;
    const folder = join(ROOT, controller, PARENT, id);
    await mkdir(folder, { recursive: true });
    for (const [name, value] of Object.entries(values)) await writeFile(join(folder, name), String(value));
    groups.push(folder);
  }
  return absent.length === 0
    ? { groups }
    : { groups, why: `the kernel has no control groups for ${absent.join(', ')}` };
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

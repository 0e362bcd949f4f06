/** The backups in one folder: their names say when they were made and whether anything was left out. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface BackupInfo {
  file: string;
  /** RFC 3339. */
  createdAt: string;
  bytes: number;
  /** A store that was lost or damaged at the time is not in it. */
  isComplete: boolean;
}

const NAME = /^rookery-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(-incomplete)?\.backup$/;
const DRAFT = /^\.rookery-.*\.(\d+)\.draft$/;

export class BackupFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Newest first. */
  async list(): Promise<BackupInfo[]> {
    const names = await readdir(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const found: BackupInfo[] = [];
    for (const name of names) {
      const [, year, month, day, hour, minute, second, incomplete] = NAME.exec(name) ?? [];
      if (!year) continue;
      const file = join(this.path, name);
      const createdAt = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
      found.push({ file, createdAt, bytes: (await stat(file)).size, isComplete: !incomplete });
    }
    return found.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  }

  fileFor(at: number, isComplete: boolean): string {
    const stamp = `${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
    return join(this.path, `rookery-${stamp}${isComplete ? '' : '-incomplete'}.backup`);
  }

  /** A file to write into that is no backup yet. What killed commands left is removed. */
  async draft(at: number): Promise<string> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.path)) {
      const pid = Number(DRAFT.exec(name)?.[1]);
      if (pid && !isRunning(pid)) await rm(join(this.path, name), { force: true });
    }
    return join(this.path, `.rookery-${at}.${process.pid}.draft`);
  }

  /**
   * Removes the oldest. Only whole backups count: while a store is damaged, those that still have it stay, however many backups without it are made;
   * of these the newest stays.
   */
  async prune(keep: number): Promise<string[]> {
    const all = await this.list();
    const whole = all.filter(({ isComplete }) => isComplete);
    const partial = all.filter(({ isComplete }) => !isComplete);
    const old = [...whole.slice(keep), ...partial.slice(1)];
    for (const { file } of old) await rm(file, { force: true });
    return old.map(({ file }) => file);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

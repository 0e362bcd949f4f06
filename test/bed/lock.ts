// A lock that the kernel releases when its holder dies, however it dies. A lock file with a pid in it would need
// somebody to decide that it is stale; SQLite's exclusive transaction is an fcntl lock, which needs nobody.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { locksFolder } from './paths.ts';
import { sleep } from './process.ts';

export async function withLock<T>(name: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  mkdirSync(locksFolder, { recursive: true });
  const database = new Database(join(locksFolder, `${name}.lock`), { timeout: 0 });
  try {
    for (let tries = 0; ; tries++) {
      try {
        database.exec('BEGIN EXCLUSIVE');
        break;
      } catch (error) {
        if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
        if (tries === 0) onWait?.();
        await sleep(300);
      }
    }
    return await work();
  } finally {
    database.close();
  }
}

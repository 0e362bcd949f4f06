// Every process a service starts carries its instance in the environment, and children inherit it. So what belongs to an
// instance can be found without a pid file, also when whoever would have written the pid file was killed.
import { readdirSync, readFileSync } from 'node:fs';

export const instanceMark = 'ROOKERY_BED_INSTANCE';

export function marked(folder: string): number[] {
  const wanted = `${instanceMark}=${folder}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      if (pid === process.pid) return false;
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(wanted);
      } catch {
        return false;
      }
    });
}

/** Ends all of them; asks twice because one may have forked between the look and the kill. */
export function killMarked(folder: string, signal: NodeJS.Signals = 'SIGKILL'): void {
  for (let round = 0; round < 3; round++) {
    const pids = marked(folder);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // gone meanwhile
      }
    }
    if (signal !== 'SIGKILL') return;
  }
}

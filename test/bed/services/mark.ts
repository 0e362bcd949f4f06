// Every process a service starts is written down, and carries its instance in the environment, which children inherit. Two
// ways because each has a hole: nobody writes anything down between a fork and a kill -9, and some programs (Redis) overwrite
// the environment they show.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { killGroup, startTime } from '../process.ts';

export const instanceMark = 'ROOKERY_BED_INSTANCE';
const pidsFile = (folder: string): string => join(folder, 'pids');

export function writeDown(folder: string, pid: number): void {
  appendFileSync(pidsFile(folder), `${pid} ${startTime(pid)}\n`);
}

function writtenDown(folder: string): number[] {
  try {
    const lines = readFileSync(pidsFile(folder), 'utf8').trim().split('\n');
    return lines
      .map((line) => line.split(' '))
      .filter(([pid, started]) => startTime(Number(pid)) === started)
      .map(([pid]) => Number(pid));
  } catch {
    return [];
  }
}

function marked(folder: string): number[] {
  const wanted = `${instanceMark}=${folder}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      if (pid === process.pid) return false;
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(wanted) && startTime(pid) !== undefined
        );
      } catch {
        return false;
      }
    });
}

export const processesOf = (folder: string): number[] => [...new Set([...writtenDown(folder), ...marked(folder)])];

/** Ends all of them; looks again because one may have forked between the look and the kill. */
export function killInstance(folder: string, signal: NodeJS.Signals = 'SIGKILL'): void {
  for (let round = 0; round < 3; round++) {
    const pids = processesOf(folder);
    if (pids.length === 0) return;
    for (const pid of pids) {
      killGroup(pid, signal); // services lead groups of their own
      try {
        process.kill(pid, signal);
      } catch {
        // gone meanwhile
      }
    }
    if (signal !== 'SIGKILL') return;
  }
}

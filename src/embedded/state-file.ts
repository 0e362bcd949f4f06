/** How other commands find the control plane of a home folder, and whether it still lives. */

import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { writePrivate } from '../vault/files.ts';
import type { Home } from './home.ts';

export interface State {
  pid: number;
  /** Start time of the process in clock ticks, so that a reused pid is not taken for ours. */
  pidStartedAt: string;
  url: string;
  startedAt: string;
  version: string;
}

export async function writeState(home: Home, state: Omit<State, 'pid' | 'pidStartedAt'>): Promise<void> {
  const full: State = { pid: process.pid, pidStartedAt: startTime(process.pid), ...state };
  await writePrivate(home.state, `${JSON.stringify(full, null, 2)}\n`);
}

export async function removeState(home: Home): Promise<void> {
  await rm(home.state, { force: true });
}

/** The running control plane of this home, or undefined; a leftover of a killed one counts as none. */
export async function readState(home: Home): Promise<State | undefined> {
  let state: State;
  try {
    state = JSON.parse(await readFile(home.state, 'utf8')) as State;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
  return isAlive(state) ? state : undefined;
}

export function isAlive(state: State): boolean {
  try {
    process.kill(state.pid, 0);
  } catch (error) {
    // EPERM: it exists, but belongs to someone else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startTime(state.pid) === state.pidStartedAt;
}

/** Field 22 of /proc/<pid>/stat; empty where there is no /proc, `dead` for a zombie nobody has reaped. */
function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'dead' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

/**
 * Who has a home folder, how other commands reach the control plane in it, and whether it still lives. The file is there from the first
 * moment of a start, so that a control plane that is only coming up can be waited for and stopped too. What keeps two processes from one
 * database is the database's own lock; this file says who the other one is.
 */
import { readFileSync } from 'node:fs';
import { link, readFile, rename, rm } from 'node:fs/promises';
import { makeRoomToStart } from '../apiserver/disk/reserve.ts';
import { createPrivate, writePrivate } from '../vault/files.ts';
import type { Home } from './home.ts';
import { makeHome } from './usable-home.ts';

export interface State {
  pid: number;
  /** Start time of the process in clock ticks, so that a reused pid is not taken for ours. */
  pidStartedAt: string;
  phase: 'starting' | 'serving' | 'stopping';
  /** Empty unless it serves. */
  url: string;
  /** Where the pages of workspaces are served on this machine; absent where none are. */
  webUrl?: string;
  startedAt: string;
  version: string;
  /** Present where backups are made on a schedule. */
  backups?: { folder: string; everyMs: number; keep: number };
  /** The command that runs the control plane itself, for as long as it needs it; absent for `rookery up`. */
  command?: string;
}

type Facts = Omit<State, 'pid' | 'pidStartedAt' | 'phase' | 'url'>;

/** Takes the home for this process; when somebody has it, that is the answer. */
export async function claimHome(home: Home, facts: Facts): Promise<State | undefined> {
  makeHome(home.path);
  await makeRoomToStart(home.reserve);
  for (;;) {
    if (await createPrivate(home.state, text({ ...facts, phase: 'starting', url: '' }))) return undefined;
    const holder = await readState(home);
    if (holder) return holder;
    await removeStale(home);
  }
}

export async function writeServing(home: Home, facts: Facts & { url: string }): Promise<void> {
  await writePrivate(home.state, text({ ...facts, phase: 'serving' }));
}

/**
 * Before the server closes: commands that look from now on wait for the end instead of talking to it. Nothing that goes
 * wrong here (a full disk) may keep a server from stopping.
 */
export async function writeStopping(home: Home, facts: Facts): Promise<void> {
  await writePrivate(home.state, text({ ...facts, phase: 'stopping', url: '' })).catch(() => {});
}

/** Leaves the file of another process alone. */
export async function removeState(home: Home): Promise<void> {
  const holder = await readState(home);
  if (!holder || holder.pid === process.pid) await rm(home.state, { force: true });
}

/** The control plane of this home, whatever it is doing; a leftover of a killed one counts as none. */
export async function readState(home: Home): Promise<State | undefined> {
  const state = await parsed(home.state);
  return state && isAlive(state) ? state : undefined;
}

/** Somebody may have put a living one in its place since it was read: then it goes back. */
async function removeStale(home: Home): Promise<void> {
  const aside = `${home.state}.${process.pid}`;
  try {
    await rename(home.state, aside);
    const moved = await parsed(aside);
    if (moved && isAlive(moved)) await link(aside, home.state);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function parsed(file: string): Promise<State | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as State;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function text(facts: Omit<State, 'pid' | 'pidStartedAt'>): string {
  const state: State = { pid: process.pid, pidStartedAt: startTime(process.pid), ...facts };
  return `${JSON.stringify(state, null, 2)}\n`;
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

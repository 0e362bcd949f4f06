// Things that run. A service lives as long as somebody holds a lease on it; a lease is a file named after a process, and
// counts only while that process lives. A small reaper of its own stops the service when the last lease is gone, so a
// suite that dies by kill -9 is cleaned up after within a second or two; if the reaper dies too, the next start does it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from '../lock.ts';
import { runFolder } from '../paths.ts';
import { startTime } from '../process.ts';
import { clusterApi } from './cluster-api.ts';
import { docker } from './docker.ts';
import { kubeApiserver } from './kube-apiserver.ts';
import { instanceMark, killInstance, writeDown } from './mark.ts';
import { redis } from './redis.ts';

export interface ServiceState {
  readonly env: Record<string, string>;
  /** Settings of the machine that were changed, with the values to put back. */
  readonly restore: Record<string, string>;
}

export interface ServiceContext {
  /** The instance's own folder: sockets, keys, logs, data that may go when it stops. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** Starts a long-running program, marked as belonging to this instance, its output in a log of the folder. */
  spawn(program: string, args: readonly string[], logName: string): void;
}

export interface ServiceKind {
  readonly name: string;
  /** Shared: one on this machine for all who ask. Otherwise everyone gets their own. */
  readonly shared: boolean;
  start(context: ServiceContext): Promise<ServiceState>;
  healthy(state: ServiceState): Promise<boolean>;
  /** Removes everything, also after a start that was cut short: `state` is then missing. */
  stop(folder: string, state: ServiceState | undefined): Promise<void>;
}

export interface Lease {
  readonly env: Record<string, string>;
  release(): Promise<void>;
}

const kinds: readonly ServiceKind[] = [docker, kubeApiserver, clusterApi, redis];
export const serviceNames = kinds.map((kind) => kind.name);
let instances = 0;

function kindNamed(name: string): ServiceKind {
  const kind = kinds.find((candidate) => candidate.name === name);
  if (!kind) throw new Error(`the bed has no service named ${name}; it has: ${serviceNames.join(', ')}`);
  return kind;
}

const kindOf = (folder: string): ServiceKind => kindNamed((folder.split('/').at(-1) as string).split('.')[0] as string);
const stateFile = (folder: string): string => join(folder, 'state.json');

function readState(folder: string): ServiceState | undefined {
  try {
    return JSON.parse(readFileSync(stateFile(folder), 'utf8')) as ServiceState;
  } catch {
    return undefined;
  }
}

/** Leases whose process still lives; dead ones are removed on the way. */
export function liveLeases(folder: string): string[] {
  const leases = join(folder, 'leases');
  if (!existsSync(leases)) return [];
  return readdirSync(leases).filter((name) => {
    const [pid, started] = name.split('.');
    if (startTime(Number(pid)) === started) return true;
    rmSync(join(leases, name), { force: true });
    return false;
  });
}

export async function stopInstance(folder: string): Promise<void> {
  await kindOf(folder).stop(folder, readState(folder));
  killInstance(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** For the reaper: stops the instance if nobody holds it, and says whether it is gone. */
export async function stopIfUnused(folder: string): Promise<boolean> {
  if (liveLeases(folder).length > 0) return false;
  return withLock(`service-${folder.split('/').at(-1)}`, async () => {
    if (liveLeases(folder).length > 0) return false;
    await stopInstance(folder);
    return true;
  });
}

function ensureReaper(folder: string): void {
  const file = join(folder, 'reaper');
  const [pid, started] = existsSync(file) ? readFileSync(file, 'utf8').split(' ') : [];
  if (pid && startTime(Number(pid)) === started) return;
  const reaper = fileURLToPath(new URL('./reaper.ts', import.meta.url));
  const log = openSync(join(folder, 'reaper.log'), 'a');
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), reaper, folder], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  child.unref();
  if (child.pid) writeFileSync(file, `${child.pid} ${startTime(child.pid)}`);
}

/** What the programs of a service said last: their logs go with its folder. */
function lastWords(folder: string): string {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8').trim().split('\n').slice(-5)] as const)
    .filter(([, lines]) => lines.join('') !== '')
    .map(([name, lines]) => `\n${name}:\n  ${lines.join('\n  ')}`)
    .join('');
}

async function startInstance(kind: ServiceKind, folder: string, say: (line: string) => void): Promise<ServiceState> {
  const env = { ...process.env, [instanceMark]: folder };
  const context: ServiceContext = {
    folder,
    env,
    say,
    spawn: (program, args, logName) => {
      const log = openSync(join(folder, logName), 'a');
      // The service has a process group of its own: ctrl-c in a terminal is for the suite, not for the engine.
      const child = spawn(program, [...args], { detached: true, env, cwd: folder, stdio: ['ignore', log, log] });
      child.on('error', (error) => say(`${program}: ${error.message}`));
      if (child.pid) writeDown(folder, child.pid);
      child.unref();
    },
  };
  const state = await kind.start(context).catch((error: Error) => {
    throw new Error(`${error.message}${lastWords(folder)}`, { cause: error });
  });
  writeFileSync(`${stateFile(folder)}.new`, JSON.stringify(state, null, 2));
  renameSync(`${stateFile(folder)}.new`, stateFile(folder));
  return state;
}

/** Removes what dead runs left, without touching what somebody still uses. */
export async function stopAll(force: boolean, say: (line: string) => void): Promise<void> {
  if (!existsSync(runFolder)) return;
  for (const name of readdirSync(runFolder)) {
    const folder = join(runFolder, name);
    await withLock(`service-${name}`, async () => {
      const held = liveLeases(folder).length;
      if (held > 0 && !force) {
        say(`${name} is held by ${held} process(es); left running`);
        return;
      }
      say(`stopping ${name}`);
      await stopInstance(folder);
    });
  }
}

async function sweepPrivate(kind: ServiceKind): Promise<void> {
  if (!existsSync(runFolder)) return;
  for (const name of readdirSync(runFolder)) {
    if (name.startsWith(`${kind.name}.`)) await stopIfUnused(join(runFolder, name));
  }
}

export async function acquire(name: string, say: (line: string) => void = () => {}): Promise<Lease> {
  const kind = kindNamed(name);
  if (!kind.shared) await sweepPrivate(kind);
  const instance = kind.shared ? kind.name : `${kind.name}.${process.pid}.${++instances}`;
  const folder = join(runFolder, instance);
  const lease = join(folder, 'leases', `${process.pid}.${startTime(process.pid)}.${Date.now()}.${++instances}`);
  const state = await withLock(`service-${instance}`, async () => {
    const found = readState(folder);
    // One that nobody holds any more is full of what its last user left: better a new one.
    const usable = found !== undefined && liveLeases(folder).length > 0 && (await kind.healthy(found));
    if (!usable && existsSync(folder)) await stopInstance(folder);
    mkdirSync(join(folder, 'leases'), { recursive: true });
    // The lease and the reaper come before the service: whatever is started from here on has somebody to end it.
    writeFileSync(lease, '');
    ensureReaper(folder);
    if (usable) return found;
    return startInstance(kind, folder, say);
  });
  return {
    env: state.env,
    release: async () => {
      rmSync(lease, { force: true });
      await stopIfUnused(folder);
    },
  };
}

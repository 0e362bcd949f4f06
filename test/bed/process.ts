// Running other programs: one way, with output kept and a failure that says what was run and what it printed last.
import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Append both streams to this file as well. */
  readonly log?: string;
  readonly input?: string | Buffer;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Show the output while it comes. */
  readonly echo?: boolean;
  /** Builds are long and shared machines are busy: give way to whoever is waiting for an answer. */
  readonly nice?: number;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program to its end. Its whole process group is killed on time-out or abort, so that no grandchild stays, and the
 * kernel kills it when we die without a word: a create that goes on after its suite was killed would disturb the next one.
 */
export async function tryRun(program: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  if (options.signal?.aborted) throw new Error(`${program} was not begun: the clock ran out`);
  const gentle = options.nice ? ['nice', '-n', String(options.nice)] : [];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...gentle, program, ...args], {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const log = options.log ? createWriteStream(options.log, { flags: 'a' }) : undefined;
  log?.write(`$ ${[program, ...args].join(' ')}\n`);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    out.push(chunk);
    log?.write(chunk);
    if (options.echo) process.stdout.write(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err.push(chunk);
    log?.write(chunk);
    if (options.echo) process.stderr.write(chunk);
  });
  child.stdin.on('error', () => {}); // the program may end without reading its input
  child.stdin.end(options.input ?? '');
  const kill = (): void => killGroup(child.pid, 'SIGKILL');
  const timer = options.timeoutMs ? setTimeout(kill, options.timeoutMs) : undefined;
  options.signal?.addEventListener('abort', kill, { once: true });
  // A suite that is stopped must not leave its children to init.
  const onExit = (): void => kill();
  process.once('exit', onExit);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) => resolve(status ?? (signal ? 128 : 1)));
    });
    return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', kill);
    process.removeListener('exit', onExit);
    log?.end();
  }
}

export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const result = await tryRun(program, args, options);
  if (result.code !== 0) {
    const tail = (result.stderr.trim() || result.stdout.trim()).split('\n').slice(-15).join('\n');
    throw new Error(
      `${program} ${args.slice(0, 6).join(' ')} ended with ${result.code}${options.log ? ` (log: ${options.log})` : ''}\n${tail}`,
    );
  }
  return result.stdout;
}

export function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (!pid) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // already gone
  }
}

/** When a process started, in clock ticks since boot: with the pid it names a process for ever, even after pids wrap. */
export function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return fields[19];
  } catch {
    return undefined;
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `probe` answers something, and says what was last wrong when it never does. */
export async function waitFor<T>(
  what: string,
  timeoutMs: number,
  probe: () => Promise<T | undefined | false>,
  everyMs = 250,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last = 'no answer yet';
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = (error as Error).message;
    }
    if (Date.now() > deadline) throw new Error(`${what}: not after ${Math.round(timeoutMs / 1000)} s; last: ${last}`);
    await sleep(everyMs);
  }
}

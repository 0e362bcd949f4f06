/**
 * Programs outside this process. Handed to whoever needs them (DESIGN 4), so that tests can put scripts in their place.
 * A short command is run and waited for; a long one is started on its own, in a session that outlives this process,
 * with its output in a file: whoever comes after a crash finds it by its command line.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { RookeryError } from '../errors.ts';

export interface RunOptions {
  /** On top of the environment all programs get. */
  env?: Record<string, string>;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** What it reads from its standard input; nothing otherwise. */
  input?: string | Buffer;
  /** Called with what it prints, as it comes. */
  onOutput?: (text: string) => void;
}

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Processes {
  /** The environment every program gets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Waits for the end; a code other than 0 is an answer, not an error. Throws `tool.missing` where there is no such program. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Starts a program in a session of its own and does not wait. */
  start(program: string, args: readonly string[], options?: Pick<RunOptions, 'env'>): void;
  /** Whether the process lives and its command line holds `mark`: a number alone may belong to somebody else by now. */
  isAlive(pid: number, mark: string): Promise<boolean>;
  /** Ends a started program and all it started. No error when it is gone. */
  kill(pid: number): void;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const OUTPUT_MAX = 4 * 1024 * 1024;

export function systemProcesses(env: NodeJS.ProcessEnv = process.env): Processes {
  return {
    env,
    run: (program, args, options = {}) => runToEnd(program, args, options, env),
    start(program, args, options = {}) {
      const child = spawn(program, args, { env: { ...env, ...options.env }, detached: true, stdio: 'ignore' });
      child.on('error', () => {}); // Seen by its run folder: neither alive nor ended.
      child.unref();
    },
    isAlive: async (pid, mark) => (await commandLine(pid, env)).includes(mark),
    kill(pid) {
      for (const target of [-pid, pid]) {
        try {
          process.kill(target, 'SIGKILL');
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
        }
      }
    },
  };
}

function runToEnd(
  program: string,
  args: readonly string[],
  options: RunOptions,
  env: NodeJS.ProcessEnv,
): Promise<RunResult> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const child = spawn(program, args, { env: { ...env, ...options.env }, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => {}); // It may end without having read all of it.
    child.stdin.end(options.input ?? '');
    const output = { stdout: '', stderr: '' };
    let isLate = false;
    // What it started may hold its output open for as long as it likes: nobody waits for that.
    const giveUp = () => {
      child.kill('SIGKILL');
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    };
    const timer = setTimeout(() => {
      isLate = true;
      giveUp();
    }, timeoutMs);
    const onAbort = giveUp;
    signal?.addEventListener('abort', onAbort, { once: true });
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length < OUTPUT_MAX) output[name] += text;
        options.onOutput?.(text);
      });
    }
    const end = (act: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      act();
    };
    child.on('error', (error: NodeJS.ErrnoException) =>
      end(() => reject(error.code === 'ENOENT' ? missing(program) : error)),
    );
    child.on('close', (code, killedBy) =>
      end(() => {
        if (signal?.aborted) return reject(signal.reason);
        if (isLate) return reject(tooSlow(program, args, timeoutMs));
        resolve({
          code: code ?? 128,
          ...output,
          ...(killedBy ? { stderr: `${output.stderr}\nended by ${killedBy}` } : {}),
        });
      }),
    );
  });
}

async function commandLine(pid: number, env: NodeJS.ProcessEnv): Promise<string> {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return '';
    }
  }
  const { stdout } = await runToEnd('ps', ['-ww', '-o', 'command=', '-p', String(pid)], {}, env);
  return stdout;
}

function missing(program: string): RookeryError {
  return new RookeryError('tool.missing', `the program ${program} is not on this machine's PATH`, {
    hint: 'see `rookery doctor` for how to get it',
  });
}

function tooSlow(program: string, args: readonly string[], timeoutMs: number): RookeryError {
  const command = [program, ...args.slice(0, 2)].join(' ');
  return new RookeryError('tool.timeout', `${command} gave no answer in ${timeoutMs / 1000} s`, { class: 'retryable' });
}

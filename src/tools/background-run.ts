/**
 * A tool that runs for minutes, in a folder of its own: what was started and when (`run.json`), its process (`pid`), all it
 * said (`output.log`), and how it ended (`exit`). The program writes the last three itself, through a shell around it, so they are
 * true after a crash of ours as well: it goes on, and the next process finds it running, ended, or lost.
 */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { redactText } from '../telemetry/redact.ts';
import type { Processes } from './processes.ts';

export interface RunRequest {
  program: string;
  args: readonly string[];
  env?: Record<string, string>;
  /** Kept with the run, for whoever reads it later. */
  note?: Record<string, unknown>;
}

export interface RunState {
  /** `lost`: it was started, is not running and did not say how it ended. */
  state: 'none' | 'running' | 'ended' | 'lost';
  startedAt: number;
  /** How often it has been started since the folder was cleared. */
  attempt: number;
  /** Exit code of an ended run, and when that was. */
  code?: number;
  endedAt?: number;
  /** Everything it said, without secrets, at most the last 64 KiB. */
  output: string;
  note: Record<string, unknown>;
}

const OUTPUT_MAX = 64 * 1024;
const SCRIPT = 'echo $$ >"$0/pid"; "$@" >"$0/output.log" 2>&1; echo $? >"$0/exit.new"; mv "$0/exit.new" "$0/exit"';
/** A run that was just started needs a moment before its shell has written its number. */
const START_GRACE_MS = 5000;

export class BackgroundRun {
  readonly folder: string;
  readonly #processes: Processes;
  readonly #clock: Clock;

  constructor(folder: string, processes: Processes, clock: Clock) {
    this.folder = folder;
    this.#processes = processes;
    this.#clock = clock;
  }

  /** The record of the run is on disk before the program starts. */
  async start(request: RunRequest): Promise<void> {
    const { attempt } = await this.read();
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    for (const name of ['pid', 'exit', 'exit.new', 'output.log']) await rm(join(this.folder, name), { force: true });
    const record = { startedAt: this.#clock.now(), attempt: attempt + 1, note: request.note ?? {} };
    await writeFile(join(this.folder, 'run.json'), JSON.stringify(record), { mode: 0o600 });
    const { program, args, env } = request;
    this.#processes.start('/bin/sh', ['-c', `umask 077; ${SCRIPT}`, this.folder, program, ...args], { env });
  }

  async read(): Promise<RunState> {
    const record = await this.#text('run.json');
    if (!record) return { state: 'none', startedAt: 0, attempt: 0, output: '', note: {} };
    const { startedAt, attempt, note } = JSON.parse(record) as Pick<RunState, 'startedAt' | 'attempt' | 'note'>;
    // In this order: a run that ends in between is seen as ended and not as lost.
    const isRunning = await this.#isRunning(startedAt);
    const exit = await this.#text('exit');
    const output = redactText((await this.#text('output.log')) ?? '').slice(-OUTPUT_MAX);
    const common = { startedAt, attempt, output, note };
    if (exit !== undefined) return { ...common, state: 'ended', code: Number(exit), endedAt: await this.#endedAt() };
    return { ...common, state: isRunning ? 'running' : 'lost' };
  }

  /** Ends it and everything it started; true when there was something to end. With `code`, that is how it ended. */
  async stop(code?: number): Promise<boolean> {
    const pid = Number(await this.#text('pid'));
    if (!pid || !(await this.#processes.isAlive(pid, this.folder))) return false;
    this.#processes.kill(pid);
    if (code !== undefined) await writeFile(join(this.folder, 'exit'), String(code), { mode: 0o600 });
    return true;
  }

  /** Forgets the run and what it said. */
  async clear(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #isRunning(startedAt: number): Promise<boolean> {
    const pid = Number(await this.#text('pid'));
    if (pid) return this.#processes.isAlive(pid, this.folder);
    return this.#clock.now() - startedAt < START_GRACE_MS;
  }

  async #endedAt(): Promise<number> {
    return (await stat(join(this.folder, 'exit'))).mtimeMs;
  }

  async #text(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.folder, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

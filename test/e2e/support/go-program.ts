// A program that runs beside a suite and ends with it, with its output in a file that a failure can name.
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';

export class GoProgram {
  readonly log: string;
  readonly #process: ChildProcess;

  constructor(path: string, args: readonly string[], log: string) {
    this.log = log;
    this.#process = spawn('setpriv', ['--pdeathsig', 'KILL', '--', path, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const file = createWriteStream(log);
    this.#process.stdout?.pipe(file);
    this.#process.stderr?.pipe(file);
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Lines of its log that match. */
  said(pattern: RegExp): string[] {
    return readFileSync(this.log, 'utf8')
      .split('\n')
      .filter((line) => pattern.test(line));
  }

  /** Throws with its last words when it has ended by itself. */
  mustRun(): void {
    if (!this.isRunning) throw new Error(`it ended: ${readFileSync(this.log, 'utf8').slice(-1500)}`);
  }

  async end(): Promise<void> {
    if (!this.isRunning) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
  }
}

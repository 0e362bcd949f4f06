// Rookery as people run it, on a home of its own: started, asked, killed and started again.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../bed/cache.ts';
import { type RunResult, tryRun, waitFor } from '../../bed/process.ts';
import { Kubectl } from './kubectl.ts';

const main = new URL('../../../dist/main.js', import.meta.url).pathname;

export class Rookery {
  readonly home: string;
  /** Speaks to its API. */
  readonly kubectl: Kubectl;
  readonly #env: NodeJS.ProcessEnv;
  #plane: ChildProcess | undefined;

  constructor(label: string, env: NodeJS.ProcessEnv) {
    this.home = scratch(label);
    this.kubectl = new Kubectl(join(this.home, 'kubeconfig'));
    this.#env = env;
  }

  run(...args: string[]): Promise<RunResult> {
    return tryRun(process.execPath, [main, '--home', this.home, ...args], {
      env: this.#env,
      timeoutMs: 600_000,
    });
  }

  async up(): Promise<void> {
    mkdirSync(this.home, { recursive: true });
    const args = [main, '--home', this.home, 'up', '--no-demo', '--port', '0'];
    // A suite that is killed takes it along.
    const dying = ['--pdeathsig', 'KILL', '--', process.execPath, ...args];
    this.#plane = spawn('setpriv', dying, { env: this.#env, stdio: 'ignore' });
    await waitFor('the control plane', 60_000, async () => (await this.run('status')).stdout.includes('https://'), 500);
  }

  /** Without a word, as a crash does; or by asking, as a person does. What it made stays. */
  async end(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const plane = this.#plane;
    if (!plane || plane.exitCode !== null || plane.signalCode !== null) return;
    const ended = new Promise((resolve) => plane.once('exit', resolve));
    plane.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.end('SIGTERM');
    rmSync(this.home, { recursive: true, force: true });
  }
}

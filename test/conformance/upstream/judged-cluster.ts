// The cluster that is judged: a virtual one, in a control plane of its own with a home of its own, as `rookery up` makes it.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratch } from '../../bed/cache.ts';
import { run, waitFor } from '../../bed/process.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const NAME = 'judged';

export class JudgedCluster {
  readonly #folder = scratch('conformance');
  readonly #home = join(this.#folder, 'home');
  #plane: ChildProcess | undefined;

  /** Answers where its kubeconfig lies. */
  async start(nodes: number, log: string): Promise<string> {
    // A copy: a build that somebody starts meanwhile must not change what is judged.
    for (const part of ['dist', 'package.json'])
      cpSync(join(root, part), join(this.#folder, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
    const output = openSync(log, 'w');
    const up = [this.#program, '--home', this.#home, 'up', '--no-demo', '--port', '0'];
    // Whoever is killed takes it along.
    this.#plane = spawn('setpriv', ['--pdeathsig', 'KILL', '--', process.execPath, ...up], {
      stdio: ['ignore', output, output],
      env: this.#env,
    });
    await waitFor('the control plane', 60_000, async () => (await this.#rookery('status')).includes('https://'));
    await this.#rookery('cluster', 'create', NAME, '--nodes', String(nodes));
    const kubeconfig = join(this.#folder, 'kubeconfig');
    writeFileSync(kubeconfig, await this.#rookery('cluster', 'kubeconfig', NAME), { mode: 0o600 });
    return kubeconfig;
  }

  async stop(): Promise<void> {
    const plane = this.#plane;
    if (plane && plane.exitCode === null && plane.signalCode === null) {
      const ended = new Promise((resolve) => plane.once('exit', resolve));
      plane.kill('SIGTERM');
      const patience = setTimeout(() => plane.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(patience);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #program(): string {
    return join(this.#folder, 'dist/main.js');
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, NO_COLOR: '1' };
  }

  #rookery(...args: string[]): Promise<string> {
    return run(process.execPath, [this.#program, '--home', this.#home, ...args], {
      timeoutMs: 120_000,
      env: this.#env,
    });
  }
}

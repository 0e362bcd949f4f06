/** Rookery as people run it: the built command, with a control plane that runs already. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../test/bed/process.ts';
import { freePorts } from '../../test/bed/services/port.ts';
import { Kubectl } from '../../test/e2e/support/kubectl.ts';
import { untilReady } from '../servers/server.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export class Product {
  /** Speaks to its API. */
  readonly kubectl: Kubectl;
  readonly #home: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #plane: ChildProcess;

  private constructor(home: string, env: NodeJS.ProcessEnv, plane: ChildProcess) {
    this.kubectl = new Kubectl(join(home, 'kubeconfig'));
    this.#home = home;
    this.#env = env;
    this.#plane = plane;
  }

  static async start(home: string, env: NodeJS.ProcessEnv): Promise<Product> {
    const [port] = (await freePorts(1)) as [number];
    const args = [MAIN, '--home', home, 'up', '--no-demo', '--port', String(port)];
    const plane = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    await untilReady(port, () => plane.exitCode !== null);
    return new Product(home, env, plane);
  }

  /** Output of a command; fails with what it said. */
  run(...args: string[]): Promise<string> {
    return run(process.execPath, [MAIN, '--home', this.#home, ...args], { env: this.#env, timeoutMs: 900_000 });
  }

  async stop(): Promise<void> {
    if (this.#plane.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#plane.once('exit', resolve));
    this.#plane.kill('SIGTERM');
    await ended;
  }
}

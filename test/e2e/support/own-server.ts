// Our API server alone, in a process of its own that a suite can kill and start again on the same files and port.
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { scratch } from '../../bed/cache.ts';
import { Kubectl } from './kubectl.ts';

const program = new URL('../../harness/server.child.ts', import.meta.url).pathname;

interface Said {
  readonly url: string;
  readonly kubeconfig: string;
}

export class OwnServer {
  readonly folder: string;
  /** What the server itself called a failure of its own. */
  readonly failures: string[] = [];
  #process: ChildProcess | undefined;
  #said: Said | undefined;

  constructor(label: string) {
    this.folder = scratch(label);
  }

  get kubeconfig(): string {
    if (!this.#said) throw new Error('the server was not started');
    return this.#said.kubeconfig;
  }

  get kubectl(): Kubectl {
    return new Kubectl(this.kubeconfig);
  }

  async start(): Promise<void> {
    const port = this.#said ? new URL(this.#said.url).port : '0';
    const args = ['--pdeathsig', 'KILL', '--', process.execPath, '--import', 'tsx', program, this.folder, port];
    const child = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = child;
    createInterface({ input: child.stderr }).on('line', (line) => this.failures.push(line));
    this.#said = await new Promise<Said>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line) as Said));
      child.once('exit', () => reject(new Error(`the server ended: ${this.failures.join('\n')}`)));
    });
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

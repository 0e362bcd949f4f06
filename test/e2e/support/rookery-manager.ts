// `rookery manager` as people run it: a process of its own, killed with the suite, its log kept for when something fails.
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunResult, tryRun, waitFor } from '../../bed/process.ts';
import { freePorts } from '../../bed/services/port.ts';

const main = new URL('../../../dist/main.js', import.meta.url).pathname;
const command = (home: string, ...args: string[]): string[] => [main, '--home', home, ...args];

export interface ManagerSettings {
  readonly home: string;
  readonly kubeconfig: string;
  readonly env: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
}

/** Runs a command to its end. */
export function rookery(home: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<RunResult> {
  return tryRun(process.execPath, command(home, ...args), { env, timeoutMs: 60_000 });
}

export class RookeryManager {
  readonly name: string;
  readonly log: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | string>;
  readonly #health: number;

  private constructor(name: string, child: ChildProcess, log: string, health: number) {
    this.name = name;
    this.log = log;
    this.#child = child;
    this.#health = health;
    this.#ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal ?? '')));
  }

  static async start(name: string, { home, kubeconfig, env, args = [] }: ManagerSettings): Promise<RookeryManager> {
    const [health] = (await freePorts(1)) as [number];
    const log = join(home, `${name}.log`);
    const output = openSync(log, 'a');
    const ports = ['--health-port', String(health), '--metrics-port', String(health)];
    const all = command(home, 'manager', '--kubeconfig', kubeconfig, '--host-namespaces', '*', ...ports, ...args);
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', process.execPath, ...all], {
      env,
      stdio: ['ignore', output, output],
    });
    return new RookeryManager(name, child, log, health);
  }

  async get(path: string): Promise<{ status: number; text: string }> {
    const answer = await fetch(`http://127.0.0.1:${this.#health}${path}`);
    return { status: answer.status, text: await answer.text() };
  }

  untilReady(): Promise<boolean> {
    const ready = waitFor(`manager ${this.name}`, 90_000, async () => (await this.get('/readyz')).status === 200);
    const early = this.#ended.then((how) => {
      throw new Error(`manager ${this.name} ended with ${how} before it was ready`);
    });
    return Promise.race([ready, early]);
  }

  get isLeader(): boolean {
    return this.#lines().some(({ msg }) => msg === 'became leader');
  }

  /** Who it is in the lease. */
  get identity(): string | undefined {
    return this.#lines().find(({ msg }) => msg === 'became leader')?.identity;
  }

  /** Lines that tell of trouble. */
  get complaints(): string[] {
    return this.#lines()
      .filter(({ level }) => level === 'error')
      .map((line) => JSON.stringify(line));
  }

  /** Answers with what it ended. */
  end(signal: NodeJS.Signals): Promise<number | string> {
    this.#child.kill(signal);
    return this.#ended;
  }

  tail(): string {
    return `${this.name}:\n${readFileSync(this.log, 'utf8').split('\n').slice(-40).join('\n')}`;
  }

  #lines(): { msg?: string; level?: string; identity?: string }[] {
    const whole = readFileSync(this.log, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'));
    return whole.map((line) => JSON.parse(line));
  }
}

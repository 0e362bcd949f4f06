/**
 * The real Rookery is killed without a word (`kill -9`) and started again, many times while one cluster is made and many times while it and others
 * are deleted, at moments drawn from a seed. In the end the cluster is ready, and after the deletions nothing is left. One create and a few
 * deletes, so that every provisioner's suite can afford it. Call it at the top level of a suite.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../../bed/cache.ts';
import { sleep, waitFor } from '../../bed/process.ts';
import { freePorts } from '../../bed/services/port.ts';
import { Kubectl } from './kubectl.ts';

export interface CrashLoopParts {
  /** With the tools of the provisioner on PATH. */
  env: NodeJS.ProcessEnv;
  /** An object that asks for a cluster; its kind is answered by the provisioner under test. */
  object(name: string): { kind: string; metadata: { name: string; namespace: string } };
  /** What has to be there before it is asked for, such as the Secret with the kubeconfig of a host. */
  prepare?(kubectl: Kubectl): Promise<void>;
  /** There is something of it in the world. */
  hasBegun(name: string): Promise<boolean>;
  /** What is in the world that was not there before. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
  /** Of names; clusters of two runs do not meet. */
  prefix: string;
  /** How many times it is killed while one is made, and while they are deleted. Default: 20. */
  kills?: number;
  patienceMs?: number;
}

export function crashLoop(title: string, make: () => Promise<CrashLoopParts>): void {
  describe(`kill -9 of Rookery: ${title}`, () => {
    const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
    const random = seeded(seed);
    let parts: CrashLoopParts;
    let rookery: MortalRookery;
    const name = (suffix: string) => `${parts.prefix}${suffix}`;
    const kills = () => parts.kills ?? 20;
    const patienceMs = () => parts.patienceMs ?? 300_000;

    beforeAll(async () => {
      console.log(`CRASH_SEED=${seed}`);
      parts = await make();
      rookery = await MortalRookery.prepare(parts.env);
      await rookery.start();
      await rookery.answers();
      await parts.prepare?.(rookery.kubectl);
    }, 240_000);
    afterAll(async () => {
      await rookery?.close();
      await parts?.close();
    }, 240_000);

    /** Somewhere between its first breath and its second reconcile after it is up. */
    const moment = () => Math.round(rookery.startMs * (0.4 + random() * 1.2) + random() ** 2 * 1500);

    const status = async (kind: string, object: string): Promise<Status | 'gone' | undefined> => {
      const { code, stdout, stderr } = await rookery.kubectl.try(['get', kind, object, '-o', 'json']);
      if (code === 0) return (JSON.parse(stdout) as { status?: Status }).status ?? {};
      return /NotFound/.test(stderr) ? 'gone' : undefined;
    };

    test('while one is made: it gets ready, once', { timeout: 900_000 }, async () => {
      const wanted = parts.object(name('crash'));
      await rookery.kubectl.apply(wanted);
      for (let killed = 0; killed < kills(); killed++) {
        await sleep(killed === 0 ? random() * 300 : moment());
        await rookery.kill();
        await rookery.start();
      }
      await rookery.answers();
      await waitFor(
        'the cluster to be ready',
        patienceMs(),
        async () => {
          const seen = await status(wanted.kind, wanted.metadata.name);
          if (typeof seen !== 'object' || !seen.ready) throw new Error(JSON.stringify(seen));
          return true;
        },
        1000,
      );
    });

    test('while they are deleted: nothing is left', { timeout: 900_000 }, async () => {
      let killed = 0;
      for (let round = 0; killed < kills(); round++) {
        // The first is whole, the others are half made.
        const doomed = parts.object(name(round === 0 ? 'crash' : `doomed-${round}`));
        const { kind, metadata } = doomed;
        if (round > 0) {
          await rookery.kubectl.apply(doomed);
          await waitFor('its beginning', 60_000, () => parts.hasBegun(metadata.name), 100);
          await sleep(random() * 2000);
        }
        await rookery.kubectl.run('delete', kind, metadata.name, '--wait=false');
        await sleep(random() * 400);
        while ((await status(kind, metadata.name)) !== 'gone') {
          await rookery.kill();
          killed++;
          // Killed in the middle of its start as well; now and then it gets some time.
          await rookery.start();
          await sleep(moment());
          if (killed % 4 === 0) await rookery.answers();
        }
      }
      expect(killed).toBeGreaterThanOrEqual(kills());
      expect(await parts.leftovers()).toEqual([]);
      expect(rookery.files()).toEqual([]);
      expect(rookery.processes()).toEqual([]);
    });
  });
}

interface Status {
  ready?: boolean;
  failureMessage?: string;
}

/** Rookery from a copy of its build, which starts fast and does not change while somebody builds again. */
class MortalRookery {
  readonly kubectl: Kubectl;
  /** How long it takes until it answers. */
  startMs = 0;
  readonly #home: string;
  readonly #program: string;
  readonly #port: number;
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, env: NodeJS.ProcessEnv) {
    this.#home = join(folder, 'home');
    this.#program = join(folder, 'dist', 'main.js');
    this.#port = port;
    this.#env = env;
    this.kubectl = new Kubectl(join(this.#home, 'kubeconfig'));
  }

  static async prepare(env: NodeJS.ProcessEnv): Promise<MortalRookery> {
    const root = new URL('../../../', import.meta.url).pathname;
    const folder = scratch('crash-loop');
    mkdirSync(join(folder, 'home'), { recursive: true });
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const [port] = await freePorts(1);
    return new MortalRookery(folder, port as number, env);
  }

  async start(): Promise<void> {
    const args = [this.#program, '--home', this.#home, 'up', '--no-demo', '--port', String(this.#port)];
    this.#process = spawn('setpriv', ['--pdeathsig', 'KILL', '--', process.execPath, ...args], {
      env: this.#env,
      stdio: 'ignore',
    });
  }

  async answers(): Promise<void> {
    const started = Date.now();
    const asked = async () => (await this.kubectl.try(['get', '--raw', '/readyz'])).code === 0;
    await waitFor('Rookery to answer', 120_000, asked, 50);
    this.startMs ||= Date.now() - started;
  }

  async kill(): Promise<void> {
    const doomed = this.#process;
    if (!doomed || doomed.exitCode !== null || doomed.signalCode !== null) return;
    const ended = new Promise((resolve) => doomed.once('exit', resolve));
    doomed.kill('SIGKILL');
    await ended;
  }

  /** What provisioners keep for clusters. */
  files(): string[] {
    const folder = join(this.#home, 'provisioners');
    if (!existsSync(folder)) return []; // Some keep nothing here.
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  }

  /** Tools that work for it. */
  processes(): string[] {
    return readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== this.#process?.pid)
      .flatMap((pid) => {
        try {
          const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
          return command.includes(this.#home) ? [command.slice(0, 200)] : [];
        } catch {
          return []; // ended meanwhile
        }
      });
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(join(this.#home, '..'), { recursive: true, force: true });
  }
}

/** Numbers in [0, 1) that a seed decides. */
function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

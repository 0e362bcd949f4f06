/** A machine with kind and Docker made of files and shell scripts: real processes, no containers, any failure at will. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../clock.ts';
import { systemProcesses } from '../../../tools/processes.ts';
import type { HealthProbe } from '../../cluster-health.ts';
import { KindProvisioner, type KindProvisionerOptions } from '../kind-provisioner.ts';

const bin = fileURLToPath(new URL('./bin', import.meta.url));

export class FakeWorld {
  readonly folder = mkdtempSync(join(tmpdir(), 'rookery-fake-kind-'));
  readonly home = join(this.folder, 'home');
  readonly env = { PATH: `${bin}:/usr/bin:/bin`, FAKE_WORLD: join(this.folder, 'world') };
  /** What the cluster itself says when asked; nothing is missing by default. */
  missing: string[] = [];

  constructor() {
    mkdirSync(this.env.FAKE_WORLD, { recursive: true });
  }

  /** A new instance knows only what is on disk, as after a crash. */
  provisioner(options: Partial<KindProvisionerOptions> = {}): KindProvisioner {
    const processes = systemProcesses(this.env);
    const probe: HealthProbe = async () => ({
      version: 'v1.35.8',
      nodes: this.containers().map((name) => ({ name, ready: true })),
      missing: this.missing,
    });
    return new KindProvisioner({
      processes,
      clock: systemClock,
      folder: this.home,
      probe,
      pollMs: 20,
      retryMs: 50,
      ...options,
    });
  }

  /** `down`, `fail`, `delay`: what the scripts look at. */
  set(name: 'down' | 'fail' | 'delay', content: string | undefined): void {
    const path = join(this.env.FAKE_WORLD, name);
    if (content === undefined) rmSync(path, { force: true });
    else writeFileSync(path, content);
  }

  containers(): string[] {
    return this.#names('containers').filter((name) => !name.startsWith('.'));
  }

  networks(): string[] {
    return this.#names('networks');
  }

  stateOf(container: string): string {
    return readFileSync(join(this.env.FAKE_WORLD, 'containers', container, 'state'), 'utf8').trim();
  }

  /** Somebody removes a container by hand. */
  drop(container: string): void {
    rmSync(join(this.env.FAKE_WORLD, 'containers', container), { recursive: true });
  }

  /** Somebody runs a tool by hand. */
  run(program: 'kind' | 'docker', ...args: string[]): string {
    return execFileSync(join(bin, program), args, { env: this.env, encoding: 'utf8' });
  }

  /** As the death of the machine would: the tools under way end at once. */
  killTools(): void {
    for (const id of this.#homes()) {
      const file = join(this.home, id, 'run', 'pid');
      if (!existsSync(file)) continue;
      try {
        process.kill(-Number(readFileSync(file, 'utf8')), 'SIGKILL');
      } catch {
        // ended already
      }
    }
  }

  /** Everything that is not ours to leave. */
  leftovers(): string[] {
    return [
      ...this.containers().map((name) => `container ${name}`),
      ...this.networks().map((name) => `network ${name}`),
      ...this.#homes().map((id) => `folder ${id}`),
      ...(existsSync(join(this.home, 'network.json')) ? ['file network.json'] : []),
    ];
  }

  close(): void {
    this.killTools();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #homes(): string[] {
    return existsSync(this.home) ? readdirSync(this.home).filter((name) => name !== 'network.json') : [];
  }

  #names(kind: string): string[] {
    const folder = join(this.env.FAKE_WORLD, kind);
    return existsSync(folder) ? readdirSync(folder) : [];
  }
}

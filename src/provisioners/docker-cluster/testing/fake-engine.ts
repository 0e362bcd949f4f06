/** A machine with Docker and a tool made of files and shell scripts: real processes, no containers, any failure at will. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../clock.ts';
import { systemProcesses } from '../../../tools/processes.ts';
import type { HealthProbe } from '../../cluster-health.ts';
import type { ContainerProvisionerOptions } from '../container-provisioner.ts';

const engine = fileURLToPath(new URL('./bin', import.meta.url));

export class FakeEngine {
  readonly folder: string;
  readonly home: string;
  readonly env: { PATH: string; FAKE_WORLD: string };
  /** What the cluster itself says when asked; nothing is missing by default. */
  missing: string[] = [];
  readonly #version: string;

  /** `tools`: where the script of the tool is. `version`: of the clusters it makes. */
  constructor(tools: string, version: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'rookery-fake-engine-'));
    this.home = join(this.folder, 'home');
    this.env = { PATH: `${tools}:${engine}:/usr/bin:/bin`, FAKE_WORLD: join(this.folder, 'world') };
    this.#version = version;
    mkdirSync(this.env.FAKE_WORLD, { recursive: true });
  }

  /** For a new instance of a provisioner, which knows only what is on disk, as after a crash. */
  options(more: Partial<ContainerProvisionerOptions> = {}): ContainerProvisionerOptions {
    const probe: HealthProbe = async () => ({
      version: this.#version,
      nodes: this.containers().map((name) => ({ name, ready: true })),
      missing: this.missing,
    });
    const processes = systemProcesses(this.env);
    return { processes, clock: systemClock, folder: this.home, probe, pollMs: 20, retryMs: 50, ...more };
  }

  /** `down`, `fail`, `delay`: what the scripts look at. */
  set(name: 'down' | 'fail' | 'delay', content: string | undefined): void {
    const path = join(this.env.FAKE_WORLD, name);
    if (content === undefined) rmSync(path, { force: true });
    else writeFileSync(path, content);
  }

  /** Somebody makes a network, a volume or an image by hand. */
  put(kind: 'networks' | 'volumes' | 'images', name: string, id: string): void {
    mkdirSync(join(this.env.FAKE_WORLD, kind), { recursive: true });
    writeFileSync(join(this.env.FAKE_WORLD, kind, name.replaceAll('/', '_')), id);
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
  run(program: string, ...args: string[]): string {
    return execFileSync(program, args, { env: this.env, encoding: 'utf8' });
  }

  /** As the death of the machine would: the tools under way end at once. */
  killTools(): void {
    for (const file of this.#homes().flatMap((id) => ['run', 'work'].map((run) => join(this.home, id, run, 'pid')))) {
      const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
      // A file that is not written yet says 0, which to `kill` is whoever runs the tests.
      if (pid === 0) continue;
      try {
        process.kill(-pid, 'SIGKILL');
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
      ...this.#names('volumes').map((name) => `volume ${name}`),
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

/** k3s on one machine: looking at it, and the steps that change it, each short, safe to repeat, and refused by the machine itself unless it is ours. */
import type { Clock, Random } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { Host } from '../../machines/host.ts';
import { HostRun } from '../../machines/host-run.ts';
import type { RunState } from '../../tools/background-run.ts';
import type { HostFile, Supervision } from './config.ts';
import { type MachineOwner, type MachineState, parseState } from './machine-state.ts';
import { HOME, script } from './scripts.ts';

/** Work that goes on without us. */
export type Task = 'suspend' | 'remove';

const LOOK_MS = 30_000;
const PLACE_MS = 120_000;
/** Exit code of every script that finds somebody else's mark. */
const NOT_OURS = 77;

export class K3sMachine {
  readonly host: Host;
  readonly #owner: MachineOwner;
  readonly #clock: Clock;

  constructor(host: Host, owner: MachineOwner, clock: Clock) {
    this.host = host;
    this.#owner = owner;
    this.#clock = clock;
  }

  async look(signal?: AbortSignal): Promise<MachineState> {
    return parseState(await this.#run('look', [], { timeoutMs: LOOK_MS, signal }));
  }

  /** Whose the machine is after that. */
  async claim(signal?: AbortSignal): Promise<MachineOwner> {
    return JSON.parse(await this.#run('claim', [JSON.stringify(this.#owner)], { signal })) as MachineOwner;
  }

  /** Written once: with another token k3s could not read its own data. */
  async writeToken(random: Random, signal?: AbortSignal): Promise<void> {
    const write = `umask 077; [ -s "$1/token" ] && exit 0; cat >"$1/token.new" && mv "$1/token.new" "$1/token"`;
    const input = random.bytes(32).toString('hex');
    await this.#check(await this.host.run(write, { args: [HOME], input, signal }));
  }

  /** Makes the program with this SHA-256 the one that is started next; `path`: where it is on the machine, if it was not brought. */
  async place(sha256: string, path: string | undefined, signal?: AbortSignal): Promise<void> {
    await this.#run('place', [sha256, path ?? ''], { timeoutMs: PLACE_MS, signal });
  }

  /** An archive of images that is on the machine already. One that has gone since it was copied is not missed. */
  async copyImages(path: string, name: string, signal?: AbortSignal): Promise<void> {
    const copy = `set -e; [ -f "$1" ] || { [ -f "$2" ] && exit; exit 4; }; cp "$1" "$2.part"; mv "$2.part" "$2"`;
    const args = [path, `${this.#owner.dataDir}/agent/images/${name}`];
    const result = await this.host.run(copy, { args, timeoutMs: PLACE_MS, signal });
    if (result.code === 4) {
      throw new RookeryError('k3s.images-missing', `the images ${path} are neither here nor on ${this.host.identity}`, {
        class: 'retryable',
        hint: 'correct airgapImages, or put the file there',
      });
    }
    await this.#check(result);
  }

  /** Archives of images that another release has taken the place of. */
  async dropImages(names: readonly string[], signal?: AbortSignal): Promise<void> {
    if (names.length === 0) return;
    const drop = 'cd "$1" || exit; shift; rm -f -- "$@"';
    const args = [`${this.#owner.dataDir}/agent/images`, ...names];
    await this.#check(await this.host.run(drop, { args, signal }));
  }

  async write(files: readonly HostFile[], signal?: AbortSignal): Promise<void> {
    await Promise.all(files.map(({ path, text, mode }) => this.host.put(path, text, mode, signal)));
  }

  /** As k3s writes it. The machine waits for it a moment: being asked again and again costs it more, while k3s starts. */
  async kubeconfig(signal?: AbortSignal): Promise<string | undefined> {
    const wait = 'n=0; until [ -s "$1" ] || [ "$n" = 10 ]; do sleep 0.2; n=$((n + 1)); done; [ ! -s "$1" ] || cat "$1"';
    const { stdout } = await this.host.run(wait, { args: [`${HOME}/kubeconfig`], signal });
    return stdout || undefined;
  }

  async start(how: 'start' | 'restart', supervision: Supervision, signal?: AbortSignal): Promise<void> {
    await this.#run('start', [how, supervision], { signal });
  }

  /** Our own folder, and with it the claim. */
  async release(signal?: AbortSignal): Promise<void> {
    await this.#run('release', [], { signal });
  }

  task(signal?: AbortSignal): Promise<RunState> {
    return this.#background.read(signal);
  }

  async begin(task: Task, signal?: AbortSignal): Promise<void> {
    const program = task === 'suspend' ? script('quiet') : script('quiet', 'sweep');
    await this.#background.start(program, this.#arguments, { task }, signal);
  }

  stopTask(signal?: AbortSignal): Promise<boolean> {
    return this.#background.stop(signal);
  }

  get #background(): HostRun {
    return new HostRun(this.host, `${HOME}/run`, this.#clock);
  }

  get #arguments(): string[] {
    return [HOME, this.#owner.id, this.#owner.dataDir];
  }

  async #run(
    name: Parameters<typeof script>[0],
    args: readonly string[],
    options: { timeoutMs?: number; signal?: AbortSignal },
  ): Promise<string> {
    const result = await this.host.run(script(name), { ...options, args: [...this.#arguments, ...args] });
    await this.#check(result);
    return result.stdout;
  }

  async #check({ code, stderr }: { code: number; stderr: string }): Promise<void> {
    if (code === 0) return;
    const { identity } = this.host;
    if (code === NOT_OURS) {
      throw new RookeryError('host.not-ours', `${identity} was taken by somebody else meanwhile`, {
        class: 'retryable',
      });
    }
    const said = stderr.trim().split('\n').slice(-3).join('; ') || `a script ended with ${code}`;
    throw new RookeryError('host.failed', `${identity}: ${said}`, { class: 'retryable' });
  }
}

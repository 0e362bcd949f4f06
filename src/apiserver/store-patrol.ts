/**
 * Looks at the files of stores while the server runs: a file that is deleted or replaced under an open store takes every write with it without an
 * error, and one that is damaged while its cluster sleeps would only be found by the next user. Costs a `stat` per store and round; a sleeping one is
 * opened once for each state of its file.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, every } from '../clock.ts';
import type { RookeryError } from '../errors.ts';
import { openFiles } from './store/open-files.ts';
import type { StoreHealth } from './store-health.ts';

const PATROL_MS = 2000;
const SLEEPERS_PER_ROUND = 50;

export interface StorePatrolOptions {
  clock: Clock;
  health: StoreHealth;
  fileOf(name: string): string;
  awake(): Iterable<string>;
  /** All there are, and all there should be. */
  names(): string[];
  found(name: string, trouble: RookeryError): void;
  /** Opens a sleeping one to be read; what is found by that is not for us to report. */
  verify(name: string): Promise<unknown>;
}

export class StorePatrol {
  readonly #options: StorePatrolOptions;
  readonly #stop: () => void;
  /** Still to be looked at in this round. */
  #sleepers: string[] = [];
  /** The states of files that were found in order. */
  readonly #verified = new Map<string, string>();
  #isWalking = false;
  #isStopped = false;

  constructor(options: StorePatrolOptions) {
    this.#options = options;
    this.#stop = every(options.clock, PATROL_MS, () => void this.#walk());
  }

  stop(): void {
    this.#isStopped = true;
    this.#stop();
  }

  async #walk(): Promise<void> {
    if (this.#isWalking) return;
    this.#isWalking = true;
    const { awake, names } = this.#options;
    if (this.#sleepers.length === 0) this.#sleepers = names();
    for (const name of [...awake(), ...this.#sleepers.splice(0, SLEEPERS_PER_ROUND)]) {
      if (this.#isStopped) return;
      await this.#look(name);
      await turn();
    }
    this.#isWalking = false;
  }

  async #look(name: string): Promise<void> {
    const { health, found, fileOf, verify } = this.#options;
    try {
      const isOpen = openFiles.has(fileOf(name));
      const trouble = isOpen ? health.lostWhileOpen(name) : health.trouble(name);
      if (trouble) return found(name, trouble);
      const print = isOpen ? null : health.print(name);
      if (print === null || this.#verified.get(name) === print) return;
      this.#verified.set(name, print);
      await verify(name);
    } catch {
      // Told by `verify`, or it is being opened or removed just now: it is looked at again when its file has changed.
    }
  }
}

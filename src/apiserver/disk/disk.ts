/**
 * The disk that all stores are on. When it refuses a write, a part of the reserve is given up and nothing may grow any
 * more: reads and deletes go on. It is tried again every few seconds, and all is as before once the reserve is whole.
 */
import { type Clock, every } from '../../clock.ts';
import { ApiError } from '../status.ts';
import type { Room } from '../store/store.ts';
import type { Usage } from '../store/usage.ts';
import { RESERVE_BYTES, type Reserve } from './reserve.ts';

/** `failing`: it cannot be written for another reason than want of room (an I/O error, a disk mounted read-only). */
export type DiskState = 'ok' | 'full' | 'failing';

const HISTORY_BYTES = 16 * 2 ** 20;
const TRY_EVERY_MS = 2_000;
const TRY_LATER_MS = 60_000;
/** Commands that are over sooner leave the disk alone. */
const START_AFTER_MS = 1_000;

export interface DiskOptions {
  reserve: Pick<Reserve, 'bytes' | 'giveUp' | 'take' | 'probe'>;
  clock: Clock;
  /** Told when the state changes. */
  onChange?: (state: DiskState) => void;
}

export class Disk implements Room {
  readonly #options: DiskOptions;
  #state: DiskState = 'ok';
  #stop = () => {};
  #isTrying = false;

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  get state(): DiskState {
    return this.#state;
  }

  /** Takes the reserve, soon: a start does not wait for it. */
  start(): void {
    const { clock, reserve } = this.#options;
    if ((reserve.bytes ?? 0) < RESERVE_BYTES) this.#stop = clock.after(START_AFTER_MS, () => void this.#try());
  }

  close(): void {
    this.#stop();
  }

  /** As much again as is stored, and enough for small stores. */
  historyBytes({ bytes }: Usage): number {
    return Math.max(HISTORY_BYTES, bytes);
  }

  /** Throws when nothing may grow. */
  admit(): void {
    if (this.#state !== 'ok') throw noRoom(this.#state);
  }

  /** A write failed; `isFull`: for want of room, else the disk is asked why. */
  failed(isFull: boolean): void {
    const found = isFull ? 'full' : this.#probed();
    if (found !== 'ok') this.#become(found === 'full' ? this.#giveUp() : found);
  }

  /** The disk may refuse even that; the caller still has a failed write to answer. */
  #giveUp(): DiskState {
    try {
      this.#options.reserve.giveUp();
      return 'full';
    } catch {
      return 'failing';
    }
  }

  #probed(): DiskState {
    try {
      this.#options.reserve.probe();
      return 'ok';
    } catch (error) {
      return isWantOfRoom(error) ? 'full' : 'failing';
    }
  }

  async #try(): Promise<void> {
    if (this.#isTrying) return;
    this.#isTrying = true;
    const { reserve, clock } = this.#options;
    try {
      const isWhole = await reserve.take();
      // Given up in part, the disk is full until the reserve is whole again. A disk that never had room for it is small.
      this.#become(isWhole || reserve.bytes === undefined ? this.#probed() : 'full');
      if (!isWhole && this.#state === 'ok') this.#stop = clock.after(TRY_LATER_MS, () => void this.#try());
    } catch (error) {
      this.#become(isWantOfRoom(error) ? 'full' : 'failing');
    } finally {
      this.#isTrying = false;
    }
  }

  #become(state: DiskState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#stop();
    this.#stop = state === 'ok' ? () => {} : every(this.#options.clock, TRY_EVERY_MS, () => void this.#try());
    this.#options.onChange?.(state);
  }
}

/** ENOSPC, or the quota of our user on that disk. */
function isWantOfRoom(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * What a client is told. `retryAfterSeconds` only where trying again can help: client-go tries by itself for as long as
 * it is told to, and it is a person who makes room.
 */
export function noRoom(state: Exclude<DiskState, 'ok'>, retryAfterSeconds?: number): ApiError {
  const details = retryAfterSeconds ? { retryAfterSeconds } : {};
  return state === 'full'
    ? new ApiError(
        507,
        'InsufficientStorage',
        'the disk of the server is full: until there is room, objects can be read and deleted, not created or changed',
        details,
      )
    : new ApiError(
        503,
        'ServiceUnavailable',
        'the disk of the server cannot be written: objects can be read, not created or changed',
        details,
      );
}

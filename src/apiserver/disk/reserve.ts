/** A file that does nothing but take up room, so that there is some to give up when the disk is full. */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

export const RESERVE_BYTES = 16 * 2 ** 20;
/** Given up at once: other programs may take what is free before we do. */
const PART_BYTES = RESERVE_BYTES / 4;
const CHUNK_BYTES = 2 ** 18;

export class Reserve {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Undefined: it was never taken. */
  get bytes(): number | undefined {
    return statSync(this.#file, { throwIfNoEntry: false })?.size;
  }

  /** Gives a part of it back to the disk, at once. False when nothing is left. */
  giveUp(): boolean {
    const { bytes = 0 } = this;
    if (bytes > 0) truncateSync(this.#file, Math.max(0, bytes - PART_BYTES));
    return bytes > 0;
  }

  /** Takes what is missing, when as much again stays free. Says whether the reserve is whole. */
  async take(): Promise<boolean> {
    const missing = RESERVE_BYTES - (this.bytes ?? 0);
    if (missing <= 0) return true;
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    if ((await freeBytes(dirname(this.#file))) < missing + RESERVE_BYTES) return false;
    const file = await open(this.#file, 'a', 0o600);
    try {
      // Random: zeros take no room on file systems that compress.
      const chunk = randomBytes(CHUNK_BYTES);
      for (let left = missing; left > 0; left -= CHUNK_BYTES) await file.appendFile(chunk.subarray(0, left));
    } catch (error) {
      await file.truncate(RESERVE_BYTES - missing);
      throw error;
    } finally {
      await file.close();
    }
    return true;
  }

  /** Throws what the file system says when it is asked for a little room. */
  probe(): void {
    const file = `${this.#file}.probe`;
    const handle = openSync(file, 'w', 0o600);
    try {
      writeSync(handle, randomBytes(4096));
    } finally {
      closeSync(handle);
      rmSync(file, { force: true });
    }
  }
}

/** Before anything is written at a start: on a full disk even the file that says who runs would fail. */
export async function makeRoomToStart(reserve: string): Promise<void> {
  const free = await freeBytes(dirname(reserve)).catch(() => Number.POSITIVE_INFINITY);
  if (free < PART_BYTES) new Reserve(reserve).giveUp();
}

/** What is free for us, not what is kept for root. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

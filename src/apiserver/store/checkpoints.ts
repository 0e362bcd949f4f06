/**
 * Copies the write-ahead log into the file and cuts it, with all waiting for the disk off the event loop. SQLite would
 * wait for it in the thread that commits, which is everyone's: on a busy disk for a second and more.
 *
 * The order is SQLite's own. The log is on the disk before the file is touched, the file is before the log is cut, and
 * the cut is before the log grows again. Meanwhile nothing may be written to the store: its writers wait, its readers
 * and all other stores go on.
 */
import { closeSync, fsync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Connection } from './format.ts';
import { Line } from './line.ts';

/** Of the log, before it is copied: at a quarter of this there are four times as many waits for the disk. */
export const CHECKPOINT_BYTES = 4 * 2 ** 20;
/** Writers wait for a log that is this long, also while other stores come first. */
const LONGEST_BYTES = 4 * CHECKPOINT_BYTES;
/** What a change adds to the log besides its value: pages of three trees. */
const CHANGE_BYTES = 16 * 2 ** 10;

/** At once, of all stores of the process: half of the threads that Node has for files stay free for others. */
const line = new Line(2);

/** Both return when what was written to a descriptor is on the disk. */
export interface Waits {
  off(descriptor: number, path: string): Promise<void>;
  on(descriptor: number, path: string): void;
}

const fsyncOff = promisify(fsync);
/** Off and on the event loop. */
const WAITS: Waits = { off: (descriptor) => fsyncOff(descriptor), on: (descriptor) => fsyncSync(descriptor) };

export interface CheckpointsOptions {
  db: Connection;
  file: string;
  /** Told what the disk refused; the next checkpoint tries again. */
  failed: (error: unknown) => void;
  waits?: Waits;
}

export class Checkpoints {
  readonly #db: Connection;
  readonly #file: string;
  readonly #wal: string;
  readonly #failed: (error: unknown) => void;
  readonly #waits: Waits;
  /** Estimated size of the log. That of an earlier process is looked at first. */
  #size = CHECKPOINT_BYTES;
  #running: Promise<boolean> | undefined;
  /** Its turn has come: no writer may write. */
  #isExclusive = false;
  /** What was changed last and may not be on the disk: a write now would begin the log anew over what is still needed. */
  #unsynced: 'file' | 'log' | undefined;
  /** The names of file and log are on the disk. */
  #isNamed = false;
  #holds = 0;
  /** Opened once, and closed after SQLite has closed its own: closing one drops all locks of the process on a file. */
  #descriptor: number | undefined;

  constructor({ db, file, failed, waits = WAITS }: CheckpointsOptions) {
    this.#db = db;
    this.#file = file;
    this.#wal = `${file}-wal`;
    this.#failed = failed;
    this.#waits = waits;
  }

  /** What writers have to wait for. */
  get busy(): Promise<unknown> | undefined {
    return this.#isExclusive || this.#size > LONGEST_BYTES ? this.#running : undefined;
  }

  /** Changes were committed, with values of this size. */
  wrote(changes: number, bytes: number): void {
    this.#size += changes * CHANGE_BYTES + bytes;
    if (this.#size < CHECKPOINT_BYTES || this.#running || this.#holds > 0) return;
    if (this.#look() >= CHECKPOINT_BYTES) void this.run();
  }

  /** True when the log is in the file, and the file on the disk. */
  run(): Promise<boolean> {
    this.#running ??= line
      .through(() => this.#run())
      .catch((error) => {
        this.#failed(error);
        return false;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /**
   * Before each write. One that came while the disk is waited for (settings are written at once), or after the disk has
   * failed, waits for it here, on the event loop.
   */
  settle(): void {
    if (this.#unsynced === 'file') {
      this.#waits.on(this.#open(), this.#file);
      this.#cut();
    }
    if (this.#unsynced === 'log') {
      const log = openSync(this.#wal, 'r');
      try {
        this.#waits.on(log, this.#wal);
      } finally {
        closeSync(log);
      }
      this.#unsynced = undefined;
    }
  }

  /** True when the file has everything that was committed before the call; until `release` it stays as it is. */
  async runAndHold(): Promise<boolean> {
    await this.#running;
    const isDone = await this.run();
    if (isDone) this.#holds++;
    return isDone;
  }

  release(): void {
    this.#holds--;
    this.wrote(0, 0);
  }

  /** Closes the connection, which removes the log. `discard`: nothing has to reach the disk. */
  async close(discard: boolean): Promise<void> {
    await this.#running;
    if (discard) this.#db.pragma('synchronous = OFF');
    else if (!(await this.run())) {
      // The disk refuses something: SQLite tries once more, and leaves the log where it is when that fails, too.
      this.settle();
      this.#db.pragma('synchronous = NORMAL');
    }
    this.#db.close();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }

  async #run(): Promise<boolean> {
    if (this.#holds > 0) return false;
    this.#isExclusive = true;
    try {
      if (this.#unsynced === undefined && this.#look() === 0) return true;
      if (this.#unsynced === undefined && !(await this.#copy())) return false;
      if (this.#unsynced === 'file') await this.#waits.off(this.#open(), this.#file);
      // A write that could not wait has done the rest.
      if (this.#unsynced === 'file') this.#cut();
      await this.#syncPath(this.#wal);
      this.#unsynced = undefined;
      return true;
    } finally {
      this.#isExclusive = false;
    }
  }

  /** False when something still reads from the log. */
  async #copy(): Promise<boolean> {
    if (!this.#isNamed) await this.#syncPath(dirname(this.#file));
    this.#isNamed = true;
    // A setting may be written while the disk is waited for: then once more.
    for (let size = -1; size !== this.#look(); ) {
      size = this.#size;
      await this.#syncPath(this.#wal);
    }
    const { busy, log, checkpointed } = this.#checkpoint('PASSIVE');
    if (busy !== 0 || checkpointed < log) return false;
    this.#unsynced = 'file';
    return true;
  }

  #cut(): void {
    this.#checkpoint('TRUNCATE');
    this.#unsynced = 'log';
    this.#size = 0;
  }

  /** SQLite does not wait for the disk here: we do. */
  #checkpoint(how: 'PASSIVE' | 'TRUNCATE'): { busy: number; log: number; checkpointed: number } {
    const synchronous = this.#db.pragma('synchronous', { simple: true });
    this.#db.pragma('synchronous = OFF');
    try {
      return (this.#db.pragma(`wal_checkpoint(${how})`) as [{ busy: number; log: number; checkpointed: number }])[0];
    } finally {
      this.#db.pragma(`synchronous = ${synchronous}`);
    }
  }

  #look(): number {
    this.#size = statSync(this.#wal, { throwIfNoEntry: false })?.size ?? 0;
    return this.#size;
  }

  #open(): number {
    this.#descriptor ??= openSync(this.#file, 'r');
    return this.#descriptor;
  }

  /** Of the log and the folder: SQLite has no locks on them. */
  async #syncPath(path: string): Promise<void> {
    const descriptor = openSync(path, 'r');
    try {
      await this.#waits.off(descriptor, path);
    } finally {
      closeSync(descriptor);
    }
  }
}

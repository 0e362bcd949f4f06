/**
 * A machine on which things are run: this one, or one reached over SSH. Scripts are POSIX sh and run as root where that can be had
 * (an SSH user with password-less sudo gets it); a code other than 0 is an answer, not an error. What keeps a machine from being used is a
 * `RookeryError` whose code begins with `host.`. Nothing here waits for minutes: long work goes into a `HostRun` and outlives the connection.
 */
import type { RunResult } from '../tools/processes.ts';

export interface ScriptOptions {
  /** `$1`, `$2`, … of the script. */
  args?: readonly string[];
  /** What it reads from its standard input. */
  input?: string | Buffer;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called with what it prints, as it comes. */
  onOutput?: (text: string) => void;
}

export interface UploadOptions {
  mode: number;
  /** How far it is, and what was sent last. */
  onProgress?: (bytes: number, part: Buffer) => void;
  signal?: AbortSignal;
}

export interface Host {
  /** `this machine`, or `root@10.0.0.7:22`. */
  readonly identity: string;
  run(script: string, options?: ScriptOptions): Promise<RunResult>;
  /** Whole or not at all: it is written beside and moved into place. */
  put(path: string, content: string | Buffer, mode: number, signal?: AbortSignal): Promise<void>;
  /** The text of a file; undefined when there is none. */
  read(path: string, signal?: AbortSignal): Promise<string | undefined>;
  /**
   * Copies a file of this machine into a folder that is there; goes on where a transfer before it was cut off. Not moved into place: `path` may
   * be half there.
   */
  upload(file: string, path: string, options: UploadOptions): Promise<void>;
  /** Lets go of the connection; the next call makes a new one. */
  close(): void;
}

/** A text as one word of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Large files on their way to machines. A call that needs one says so and comes back; the copying goes on in this process, and after a crash it
 * begins where it was cut off. A file counts as there when all of it was sent in one go, what was sent had the right SHA-256 and the machine has as
 * many bytes; or else when the machine itself has found its SHA-256 right, which takes it a second for each 200 MB.
 */
import { createHash } from 'node:crypto';
import { RookeryError } from '../errors.ts';
import type { Host } from './host.ts';

export interface Transfer {
  file: string;
  path: string;
  sha256: string;
  size: number;
  mode: number;
}

export type TransferState =
  | { state: 'done' }
  | { state: 'under way'; bytes: number }
  | { state: 'failed'; error: RookeryError };

const ARRIVED = `[ "$(stat -c %s "$1.part")" = "$2" ] || { rm -f "$1.part"; exit 3; }
chmod "$3" "$1.part"; mv "$1.part" "$1"`;
const VERIFY = `[ "$(sha256sum <"$1.part" | cut -d ' ' -f 1)" = "$2" ] || { rm -f "$1.part"; exit 3; }
chmod "$3" "$1.part"; mv "$1.part" "$1"`;
const VERIFY_MS = 180_000;

interface Entry {
  host: string;
  bytes: number;
  isDone: boolean;
  error?: RookeryError;
  abort: AbortController;
  end: Promise<void>;
}

export class Transfers {
  readonly #underWay = new Map<string, Entry>();

  /** Begins or goes on with it, and says how far it is. A failure is told once; the call after it tries again. */
  bring(host: Host, transfer: Transfer): TransferState {
    const key = `${host.identity} ${transfer.path}`;
    const known = this.#underWay.get(key);
    if (known?.isDone || known?.error) {
      this.#underWay.delete(key);
      return known.error ? { state: 'failed', error: known.error } : { state: 'done' };
    }
    if (known) return { state: 'under way', bytes: known.bytes };
    const abort = new AbortController();
    const entry: Entry = { host: host.identity, bytes: 0, isDone: false, abort, end: Promise.resolve() };
    this.#underWay.set(key, entry);
    entry.end = this.#copy(host, transfer, entry).then(
      () => {
        entry.isDone = true;
      },
      (error) => {
        entry.error = error instanceof RookeryError ? error : unexpected(host, transfer, error as Error);
      },
    );
    return { state: 'under way', bytes: 0 };
  }

  /** Ends those to a machine: what they bring is not wanted any more. */
  async cancel(host: Host): Promise<void> {
    for (const [key, entry] of this.#underWay) {
      if (entry.host !== host.identity) continue;
      entry.abort.abort();
      await entry.end;
      this.#underWay.delete(key);
    }
  }

  async #copy(host: Host, { file, path, sha256, size, mode }: Transfer, entry: Entry): Promise<void> {
    const { signal } = entry.abort;
    const sent = createHash('sha256');
    let start: number | undefined;
    const onProgress = (bytes: number, part: Buffer) => {
      start ??= bytes - part.length;
      sent.update(part);
      entry.bytes = bytes;
    };
    await host.upload(file, `${path}.part`, { mode: 0o600, onProgress, signal });
    const isWhole = start === 0 && sent.digest('hex') === sha256;
    const [check, expected] = isWhole ? [ARRIVED, String(size)] : [VERIFY, sha256];
    const args = [path, expected, mode.toString(8)];
    const { code, stderr } = await host.run(check, { args, timeoutMs: VERIFY_MS, signal });
    if (code === 0) return;
    const why = code === 3 ? 'what arrived has another SHA-256 or size' : stderr.trim();
    throw new RookeryError('host.transfer', `${file} could not be copied to ${host.identity}: ${why}`, {
      class: 'retryable',
    });
  }
}

function unexpected(host: Host, { file }: Transfer, cause: Error): RookeryError {
  const message = `${file} could not be copied to ${host.identity}: ${cause.message}`;
  return new RookeryError('host.transfer', message, { class: 'retryable', cause });
}

/**
 * Stores that are lost or damaged: refused until a person puts a whole one in their place, never replaced by an empty one. A file that is gone is
 * told by its absence; what was found in a file is written down beside the stores and holds for that file as it is, also after a restart.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RookeryError } from '../errors.ts';
import { checkFile, unclosed } from './store/format.ts';

export interface StoreHealthOptions {
  /** Where findings are written down. */
  folder: string;
  fileOf(name: string): string;
  /** Whether the store of this name was made before, so that no file means a lost one. Default: of none that is known. */
  wasMade?(name: string): boolean;
  /** Where the content of an open store is saved whose file was deleted. */
  rescueFile(name: string): string;
  /** What a person can do about it, for hints. */
  help?(name: string): string;
}

interface Finding {
  why: string;
  /** Of the file it was found in; null: there was none. */
  print: string | null;
}

/** Codes of errors that mean: the file is not the store that was written there. */
const FOUND = new Set(['store.broken', 'vault.wrong-key', 'vault.missing-key', 'vault.unreadable-value']);
const [MISSING, DAMAGED] = ['store.missing', 'store.damaged'];

/** A lost or damaged store, as opposed to one that is only busy, full or newer. */
export function isStoreTrouble(error: unknown): error is RookeryError {
  return error instanceof RookeryError && (error.code === MISSING || error.code === DAMAGED);
}

/** What is read of it is not what was written. */
export function isBroken(error: unknown): boolean {
  return error instanceof RookeryError && FOUND.has(error.code);
}

export class StoreHealth {
  readonly #options: StoreHealthOptions;
  readonly #listeners = new Set<(name: string, trouble: RookeryError) => void>();
  /** What the listeners were told last. */
  readonly #told = new Map<string, string>();
  /** Of the files that are open. */
  readonly #inodes = new Map<string, number>();
  /** Found by keys that do not fit. Kept for as long as this process: the keys may be what is wrong. */
  readonly #unopened = new Map<string, Finding>();

  constructor(options: StoreHealthOptions) {
    this.#options = options;
  }

  /** What keeps the store from being opened; undefined when nothing is known against it. Costs a `stat` where all is well. */
  trouble(name: string): RookeryError | undefined {
    const found = statSync(this.#options.fileOf(name), { throwIfNoEntry: false });
    const known = this.#unopened.get(name) ?? this.#read(name);
    if (known && known.print === this.print(name)) return this.#damaged(name, known.why);
    if (found && found.size > 0) return known ? this.#again(name) : undefined;
    if (!known && !this.#options.wasMade?.(name)) return undefined;
    return found ? this.#damaged(name, 'its file is empty') : this.#missing(name);
  }

  mustBeWhole(name: string): void {
    const trouble = this.trouble(name);
    if (!trouble) return;
    this.tell(name, trouble);
    throw trouble;
  }

  onTrouble(listener: (name: string, trouble: RookeryError) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Once for each way a store is in trouble. */
  tell(name: string, trouble: RookeryError): void {
    if (this.#told.get(name) === trouble.message) return;
    this.#told.set(name, trouble.message);
    for (const listener of this.#listeners) listener(name, trouble);
  }

  isTold(name: string): boolean {
    return this.#told.has(name);
  }

  /** Another one for every other state of the file. */
  print(name: string): string | null {
    return printOf(this.#options.fileOf(name));
  }

  opened(name: string): void {
    this.#told.delete(name);
    this.#inodes.set(name, statSync(this.#options.fileOf(name)).ino);
  }

  closed(name: string): void {
    this.#inodes.delete(name);
  }

  /** An open store goes on writing into its file after that was deleted or replaced. */
  lostWhileOpen(name: string): RookeryError | undefined {
    const opened = this.#inodes.get(name);
    if (opened === undefined) return undefined;
    const found = statSync(this.#options.fileOf(name), { throwIfNoEntry: false });
    if (!found) return this.#missing(name);
    if (found.ino !== opened) return this.#damaged(name, 'another file was put in its place while it was in use');
    return found.size === 0 ? this.#damaged(name, 'its file was emptied while it was in use') : undefined;
  }

  /** A failure of a store that is open or was to be opened, as the trouble it means; any other failure comes back as it was. */
  judge(name: string, error: unknown): unknown {
    if (!(error instanceof RookeryError && isBroken(error))) return error;
    const file = this.#options.fileOf(name);
    const isForeign = error.code.startsWith('vault.');
    const why = isForeign
      ? `it is not the store of this cluster, or it was changed: ${error.message}`
      : error.message.replaceAll(file, basename(file));
    return this.#damaged(name, why.replaceAll(/(\/[^\s/:]+)+\//g, ''), error);
  }

  /** Writes down what was found, once nothing writes to the file any more. */
  condemn(name: string, trouble: RookeryError): void {
    if (trouble.code !== DAMAGED) return;
    const isKeys = (trouble.cause as RookeryError | undefined)?.code.startsWith('vault.');
    const finding: Finding = { why: trouble.message.slice(trouble.message.indexOf(': ') + 2), print: this.print(name) };
    if (isKeys) return void this.#unopened.set(name, finding);
    try {
      mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
      writeFileSync(this.#note(name), JSON.stringify(finding), { mode: 0o600 });
    } catch {
      // On a full or read-only disk it is found again at the next start.
    }
  }

  forget(name: string): void {
    this.#told.delete(name);
    this.#unopened.delete(name);
    rmSync(this.#note(name), { force: true });
  }

  /** Another file than the one that was damaged: looked at page by page before it is trusted. */
  #again(name: string): RookeryError | undefined {
    try {
      checkFile(this.#options.fileOf(name));
      this.forget(name);
      return undefined;
    } catch (error) {
      const trouble = this.judge(name, error);
      if (!isStoreTrouble(trouble)) throw trouble;
      this.condemn(name, trouble);
      return trouble;
    }
  }

  #read(name: string): Finding | undefined {
    const note = this.#note(name);
    if (!existsSync(note)) return undefined;
    try {
      return JSON.parse(readFileSync(note, 'utf8')) as Finding;
    } catch {
      // Cut short by a crash: then the file is looked at again.
      return { why: '', print: '' };
    }
  }

  #note(name: string): string {
    return join(this.#options.folder, `${name || 'root'}.json`);
  }

  #missing(name: string): RookeryError {
    const saved = existsSync(this.#options.rescueFile(name))
      ? `; what it held when that was noticed was saved as data/rescued/${basename(this.#options.rescueFile(name))}, which can be moved back`
      : '';
    const what = `the store of ${titleOf(name)} is missing: it was made, and its file is gone${saved}`;
    return this.#trouble(MISSING as string, what, name);
  }

  #damaged(name: string, why: string, cause?: unknown): RookeryError {
    return this.#trouble(DAMAGED as string, `the store of ${titleOf(name)} is damaged: ${why}`, name, cause);
  }

  #trouble(code: string, message: string, name: string, cause?: unknown): RookeryError {
    return new RookeryError(code, message, { hint: this.#options.help?.(name), cause });
  }
}

function titleOf(name: string): string {
  return name === '' ? 'the control plane' : `cluster ${name}`;
}

/** With its log: what was found may be that it has none. */
function printOf(file: string): string | null {
  const parts = [file, `${file}-wal`, unclosed.path(file)].map((path) => statSync(path, { throwIfNoEntry: false }));
  return parts[0] ? parts.map((found) => (found ? `${found.ino} ${found.size} ${found.mtimeMs}` : '')).join(' ') : null;
}

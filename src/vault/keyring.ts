/**
 * The master keys of one data directory: a private file, made on first use. Keys are numbered; the newest wraps new data
 * keys, older ones still open what they wrapped. Master keys never touch data, only the data keys of stores.
 */
import { readFile } from 'node:fs/promises';
import { type Random, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { decrypt, encrypt, KEY_BYTES } from './cipher.ts';
import { createPrivate, writePrivate } from './files.ts';

interface KeyringFile {
  version: 1;
  /** Number → key in base64; the highest number is the one in use. */
  keys: Record<string, string>;
}

export class Keyring {
  readonly #file: string;
  readonly #random: Random;
  #keys: Map<number, Buffer>;

  private constructor(file: string, keys: Map<number, Buffer>, random: Random) {
    this.#file = file;
    this.#keys = keys;
    this.#random = random;
  }

  /** Reads the file, or makes it with a first key. */
  static async open(file: string, random: Random = systemRandom): Promise<Keyring> {
    let text = await read(file);
    if (text === undefined) {
      await createPrivate(file, serialise(new Map([[1, random.bytes(KEY_BYTES)]])), random);
      // Whoever was first, the file now says which key it is.
      text = (await read(file)) ?? '';
    }
    return new Keyring(file, parse(file, text), random);
  }

  get newest(): number {
    return Math.max(...this.#keys.keys());
  }

  /** `<number>.<base64url>`; `context` says what the key is for and is needed to open it. */
  wrap(key: Buffer, context: string): string {
    const number = this.newest;
    const sealed = encrypt(this.#key(number, context), key, `${number}|${context}`, this.#random);
    return `${number}.${sealed.toString('base64url')}`;
  }

  unwrap(wrapped: string, context: string): Buffer {
    const [number, sealed] = [keyNumber(wrapped), wrapped.slice(wrapped.indexOf('.') + 1)];
    try {
      return decrypt(this.#key(number, context), Buffer.from(sealed, 'base64url'), `${number}|${context}`);
    } catch (error) {
      if (error instanceof RookeryError) throw error;
      throw new RookeryError(
        'vault.wrong-key',
        `the key of ${context} does not open with master key ${number} of ${this.#file}`,
        { hint: 'The data and the key file belong to different installations, or one was changed.', cause: error },
      );
    }
  }

  /** Adds a new master key, in the file before it is used. Stores take it up when they are opened next. */
  async rotate(): Promise<number> {
    const keys = new Map(this.#keys);
    const number = this.newest + 1;
    keys.set(number, this.#random.bytes(KEY_BYTES));
    await writePrivate(this.#file, serialise(keys), this.#random);
    this.#keys = keys;
    return number;
  }

  #key(number: number, context: string): Buffer {
    const key = this.#keys.get(number);
    if (key) return key;
    throw new RookeryError('vault.missing-key', `${context} needs master key ${number}, which ${this.#file} lacks`, {
      hint: 'Restore the key file that belongs to this data; without it sealed values cannot be read.',
    });
  }
}

/** The number of the master key that wrapped it. */
export function keyNumber(wrapped: string): number {
  return Number(wrapped.slice(0, wrapped.indexOf('.')));
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new RookeryError('vault.unreadable', `cannot read the key file ${file}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function serialise(keys: Map<number, Buffer>): string {
  const file: KeyringFile = {
    version: 1,
    keys: Object.fromEntries([...keys].map(([number, key]) => [number, key.toString('base64')])),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function parse(file: string, text: string): Map<number, Buffer> {
  let content: Partial<KeyringFile>;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw broken(file, 'it is not JSON', error);
  }
  if (content?.version !== 1) throw broken(file, `it has version ${content?.version}, this Rookery knows 1`);
  const keys = new Map(
    Object.entries(content.keys ?? {}).map(([number, key]) => [Number(number), Buffer.from(String(key), 'base64')]),
  );
  const whole = [...keys].every(([number, key]) => Number.isInteger(number) && key.length === KEY_BYTES);
  if (keys.size === 0 || !whole) throw broken(file, 'a key is missing or has the wrong length');
  return keys;
}

function broken(file: string, why: string, cause?: unknown): RookeryError {
  return new RookeryError('vault.broken', `the key file ${file} cannot be used: ${why}`, {
    hint: 'Restore it from a copy; it was left as it is.',
    cause,
  });
}

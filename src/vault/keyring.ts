/**
 * The master keys of one data directory: a private file, made on first use. Keys are numbered; the newest wraps new data
 * keys, older ones still open what they wrapped. Master keys never touch data, only the data keys of stores.
 */
import { readFile } from 'node:fs/promises';
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { decrypt, encrypt, KEY_BYTES } from './cipher.ts';
import { createPrivate, writePrivate } from './files.ts';

interface KeyringFile {
  version: 1;
  /** Number → key in base64; the highest number is the one in use. */
  keys: Record<string, string>;
  /** Number → when it was made, in milliseconds since the epoch; absent for keys of older versions. */
  made?: Record<string, number>;
}

export interface MasterKey {
  number: number;
  madeAt?: number;
}

interface Keys {
  keys: Map<number, Buffer>;
  made: Map<number, number>;
}

export class Keyring {
  readonly #file: string;
  readonly #random: Random;
  readonly #clock: Clock;
  #keys: Map<number, Buffer>;
  #made: Map<number, number>;

  private constructor(file: string, { keys, made }: Keys, random: Random, clock: Clock) {
    this.#file = file;
    this.#keys = keys;
    this.#made = made;
    this.#random = random;
    this.#clock = clock;
  }

  /** Reads the file, or makes it with a first key. */
  static async open(file: string, random: Random = systemRandom, clock: Clock = systemClock): Promise<Keyring> {
    let text = await read(file);
    if (text === undefined) {
      const first = { keys: new Map([[1, random.bytes(KEY_BYTES)]]), made: new Map([[1, clock.now()]]) };
      await createPrivate(file, serialise(first), random);
      // Whoever was first, the file now says which key it is.
      text = (await read(file)) ?? '';
    }
    return new Keyring(file, parse(file, text), random, clock);
  }

  /** Newest first. */
  get list(): MasterKey[] {
    return [...this.#keys.keys()].sort((a, b) => b - a).map((number) => ({ number, madeAt: this.#made.get(number) }));
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

  /** Adds a new master key, in the file before it is used. Stores take it up when their sealers are renewed. */
  async rotate(): Promise<number> {
    const number = this.newest + 1;
    const keys = new Map(this.#keys).set(number, this.#random.bytes(KEY_BYTES));
    await this.#write({ keys, made: new Map(this.#made).set(number, this.#clock.now()) });
    return number;
  }

  /** Removes a master key for good. The caller knows that nothing is wrapped with it any more. */
  async retire(number: number): Promise<void> {
    if (number === this.newest) throw new Error('the newest master key is in use');
    const keys = new Map(this.#keys);
    const made = new Map(this.#made);
    keys.delete(number);
    made.delete(number);
    await this.#write({ keys, made });
  }

  async #write(next: Keys): Promise<void> {
    await writePrivate(this.#file, serialise(next), this.#random);
    this.#keys = next.keys;
    this.#made = next.made;
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

function serialise({ keys, made }: Keys): string {
  const file: KeyringFile = {
    version: 1,
    keys: Object.fromEntries([...keys].map(([number, key]) => [number, key.toString('base64')])),
    made: Object.fromEntries(made),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function parse(file: string, text: string): Keys {
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
  const made = new Map(Object.entries(content.made ?? {}).map(([number, at]) => [Number(number), Number(at)]));
  return { keys, made };
}

function broken(file: string, why: string, cause?: unknown): RookeryError {
  return new RookeryError('vault.broken', `the key file ${file} cannot be used: ${why}`, {
    hint: 'Restore it from a copy; it was left as it is.',
    cause,
  });
}

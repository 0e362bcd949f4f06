/**
 * Envelope encryption of a store: values are sealed by data keys that live, wrapped by the master key, in the store
 * itself. A new master key brings a new data key for what is written from then on; the old ones are wrapped again, so a
 * store can be read with the newest master key alone, and are forgotten once everything has been sealed again.
 */
import type { RenewableSealer, Store } from '../apiserver/store/store.ts';
import { type Random, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { decrypt, encrypt, KEY_BYTES } from './cipher.ts';
import { type Keyring, keyNumber } from './keyring.ts';

/** Setting of a store: its data keys, wrapped. */
export const DATA_KEYS = 'vault/data-keys';
const FORMAT = 1;
const HEADER = 5;

type Meta = Store['meta'];

/** `owner` names what the keys belong to (a store, a tenant): keys copied elsewhere do not open. */
export function storeSealer(keyring: Keyring, meta: Meta, owner: string, random: Random = systemRandom) {
  return new StoreSealer(keyring, meta, `data key of ${owner}`, random);
}

/** Numbers of the master keys that a store's data keys are wrapped with. */
export function masterKeysOf(meta: Pick<Meta, 'get'>): number[] {
  return [...new Set(wrappedKeys(meta).map(({ text }) => keyNumber(text)))];
}

/** Numbers of the data keys that a store still has: more than one while values are sealed again. */
export function dataKeysOf(meta: Pick<Meta, 'get'>): number[] {
  return wrappedKeys(meta).map(({ number }) => number);
}

class StoreSealer implements RenewableSealer {
  readonly #keyring: Keyring;
  readonly #meta: Meta;
  readonly #context: string;
  readonly #random: Random;
  readonly #keys: Map<number, Buffer>;
  #newest: number;

  constructor(keyring: Keyring, meta: Meta, context: string, random: Random) {
    this.#keyring = keyring;
    this.#meta = meta;
    this.#context = context;
    this.#random = random;
    this.#keys = new Map(
      wrappedKeys(meta).map(({ number, text }) => [number, keyring.unwrap(text, `${context} ${number}`)]),
    );
    this.#newest = Math.max(0, ...this.#keys.keys());
    // Opened to be read, nothing is written: an older key still seals and opens.
    if (this.#newest === 0) this.#add();
  }

  seal(plain: string, context: string): Buffer {
    const header = Buffer.alloc(HEADER);
    header.writeUInt8(FORMAT, 0);
    header.writeUInt32BE(this.#newest, 1);
    const key = this.#keys.get(this.#newest) as Buffer;
    return Buffer.concat([header, encrypt(key, Buffer.from(plain), context, this.#random)]);
  }

  open(sealed: Buffer, context: string): string {
    const key = this.#keys.get(keyOf(sealed));
    if (!key) throw unreadable(context, 'its data key is unknown');
    try {
      return decrypt(key, sealed.subarray(HEADER), context).toString();
    } catch (error) {
      throw unreadable(context, 'it was changed, or belongs to another object', error);
    }
  }

  renew(): void {
    if (masterKeysOf(this.#meta).every((number) => number === this.#keyring.newest)) return;
    this.#add();
  }

  isCurrent(sealed: Buffer): boolean {
    return keyOf(sealed) === this.#newest;
  }

  forgetOld(): void {
    if (this.#keys.size === 1) return;
    this.#write([this.#newest]);
    for (const number of this.#keys.keys()) if (number !== this.#newest) this.#keys.delete(number);
  }

  /** In the store before anything is sealed with it. */
  #add(): void {
    const number = this.#newest + 1;
    this.#keys.set(number, this.#random.bytes(KEY_BYTES));
    this.#write([...this.#keys.keys()]);
    this.#newest = number;
  }

  #write(numbers: number[]): void {
    const wrapped = Array<string | null>(Math.max(...numbers)).fill(null);
    for (const number of numbers) {
      wrapped[number - 1] = this.#keyring.wrap(this.#keys.get(number) as Buffer, `${this.#context} ${number}`);
    }
    this.#meta.set(DATA_KEYS, JSON.stringify(wrapped));
  }
}

/** The list's places are the numbers; a key that was forgotten leaves null. */
function wrappedKeys(meta: Pick<Meta, 'get'>): { number: number; text: string }[] {
  const wrapped = JSON.parse(meta.get(DATA_KEYS) ?? '[]') as (string | null)[];
  return wrapped.flatMap((text, i) => (text === null ? [] : [{ number: i + 1, text }]));
}

/** The number of the data key in a sealed value's header; 0 when it has none. */
function keyOf(sealed: Buffer): number {
  return sealed.length > HEADER && sealed[0] === FORMAT ? sealed.readUInt32BE(1) : 0;
}

function unreadable(context: string, why: string, cause?: unknown): RookeryError {
  return new RookeryError('vault.unreadable-value', `the sealed value of ${context} cannot be opened: ${why}`, {
    cause,
  });
}

/** Needed to open the data key of this number; keys copied to another owner do not. */
export function dataKeyContext(owner: string, number: number): string {
  return `data key of ${owner} ${number}`;
}

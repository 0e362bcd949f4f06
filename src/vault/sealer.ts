/**
 * Envelope encryption of a store: values are sealed by data keys that live, wrapped by the master key, in the store
 * itself. A new master key brings a new data key for what is written from then on; the old ones are wrapped again, so a
 * store can be read with the newest master key alone.
 */
import type { Sealer, Store } from '../apiserver/store/store.ts';
import { type Random, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { decrypt, encrypt, KEY_BYTES } from './cipher.ts';
import { type Keyring, keyNumber } from './keyring.ts';

const META_NAME = 'vault/data-keys';
const FORMAT = 1;
const HEADER = 5;

/** `owner` names what the keys belong to (a store, a tenant): keys copied elsewhere do not open. */
export function storeSealer(
  keyring: Keyring,
  meta: Store['meta'],
  owner: string,
  random: Random = systemRandom,
): Sealer {
  const keys = dataKeys(keyring, meta, `data key of ${owner}`, random);
  const newest = Math.max(...keys.keys());
  return {
    seal(plain, context) {
      const header = Buffer.alloc(HEADER);
      header.writeUInt8(FORMAT, 0);
      header.writeUInt32BE(newest, 1);
      const key = keys.get(newest) as Buffer;
      return Buffer.concat([header, encrypt(key, Buffer.from(plain), context, random)]);
    },
    open(sealed, context) {
      const key = sealed.length > HEADER && sealed[0] === FORMAT ? keys.get(sealed.readUInt32BE(1)) : undefined;
      if (!key) throw unreadable(context, 'its data key is unknown');
      try {
        return decrypt(key, sealed.subarray(HEADER), context).toString();
      } catch (error) {
        throw unreadable(context, 'it was changed, or belongs to another object', error);
      }
    },
  };
}

/** Number → data key; brought up to date with the newest master key on the way. */
function dataKeys(keyring: Keyring, meta: Store['meta'], context: string, random: Random): Map<number, Buffer> {
  const wrapped = JSON.parse(meta.get(META_NAME) ?? '[]') as string[];
  const keys = new Map(wrapped.map((text, i) => [i + 1, keyring.unwrap(text, `${context} ${i + 1}`)]));
  const current = wrapped.length > 0 && wrapped.every((text) => keyNumber(text) === keyring.newest);
  if (!current) {
    keys.set(keys.size + 1, random.bytes(KEY_BYTES));
    meta.set(META_NAME, JSON.stringify([...keys].map(([n, key]) => keyring.wrap(key, `${context} ${n}`))));
  }
  return keys;
}

function unreadable(context: string, why: string, cause?: unknown): RookeryError {
  return new RookeryError('vault.unreadable-value', `the sealed value of ${context} cannot be opened: ${why}`, {
    cause,
  });
}

/**
 * The value column: JSON text, or for sealed resources (Secrets) ciphertext, so that the plaintext is in no page of the
 * file, neither history nor write-ahead log nor free pages. The seal is bound to the row: moved elsewhere it does not open.
 */
import { RookeryError } from '../../errors.ts';
import type { Key, Sealer } from './store.ts';

export interface Values {
  toColumn(key: Key, rv: number, json: string): string | Buffer;
  fromColumn(key: Key, rv: number, column: string | Buffer): string;
  /** After a rollback: a key the sealer had just stored in the same transaction is gone, so it must not be used on. */
  forget(): void;
}

/** `sealer` is asked for when the first sealed value is met: most stores open without touching a key. */
export function values(sealer: () => Sealer | undefined, sealed: (resource: string) => boolean): Values {
  let made: Sealer | undefined;
  const need = (key: Key): Sealer => {
    made ??= sealer();
    if (made) return made;
    throw new RookeryError('store.sealed', `${key.resource} is sealed and the store was opened without a key`);
  };
  return {
    toColumn: (key, rv, json) => (sealed(key.resource) ? need(key).seal(json, context(key, rv)) : json),
    fromColumn: (key, rv, column) => (typeof column === 'string' ? column : need(key).open(column, context(key, rv))),
    forget: () => {
      made = undefined;
    },
  };
}

function context(key: Key, rv: number): string {
  return `${key.resource}|${key.namespace}|${key.name}|${rv}`;
}

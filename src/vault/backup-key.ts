/** The key of one backup, derived from what its owner keeps: a passphrase, or the content of a key file. Each backup has a salt of its own. */
import { hkdf, scrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { RookeryError } from '../errors.ts';
import { KEY_BYTES } from './cipher.ts';

/** What a person or a schedule has at hand. */
export type BackupSecret = { kind: 'passphrase'; text: string } | { kind: 'key-file'; content: Buffer };

/** As it is written, readable, at the beginning of a backup: how its key is derived, not the key. */
export type KeyRecipe =
  | { kind: 'passphrase'; salt: string; N: number; r: number; p: number }
  | { kind: 'key-file'; salt: string };

/** 64 MiB and about a quarter of a second for each guess. */
const SCRYPT = { N: 2 ** 16, r: 8, p: 1 };
/** A recipe is input: one that asks for more is not ours. */
const N_MAX = 2 ** 20;
const KEY_FILE_BYTES_MIN = 32;

export function recipeFor(secret: BackupSecret, salt: Buffer): KeyRecipe {
  const text = salt.toString('base64');
  return secret.kind === 'passphrase'
    ? { kind: 'passphrase', salt: text, ...SCRYPT }
    : { kind: 'key-file', salt: text };
}

export async function deriveKey(secret: BackupSecret, recipe: KeyRecipe): Promise<Buffer> {
  if (secret.kind !== recipe.kind) throw otherKind(recipe.kind);
  const salt = Buffer.from(recipe.salt, 'base64');
  if (secret.kind === 'key-file') {
    const derive = promisify(hkdf);
    return Buffer.from(await derive('sha256', secret.content, salt, 'rookery backup', KEY_BYTES));
  }
  const { N, r, p } = recipe as Extract<KeyRecipe, { kind: 'passphrase' }>;
  if (!Number.isInteger(N) || N > N_MAX || r !== SCRYPT.r || p !== SCRYPT.p) throw unknownRecipe();
  const derive = promisify(scrypt) as (text: string, salt: Buffer, size: number, options: object) => Promise<Buffer>;
  return await derive(secret.text.normalize('NFC'), salt, KEY_BYTES, { N, r, p, maxmem: 256 * N * r });
}

export function readKeyFile(file: string): BackupSecret {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    throw badKeyFile(`the key file ${file} cannot be read: ${(error as Error).message}`, error);
  }
  return keyFileSecret(content, file);
}

/** Trimmed, so that an editor's last line break makes no other key. */
export function keyFileSecret(content: Buffer, file: string): BackupSecret {
  const trimmed = Buffer.from(content.toString('latin1').trim(), 'latin1');
  if (trimmed.length >= KEY_FILE_BYTES_MIN) return { kind: 'key-file', content: trimmed };
  throw badKeyFile(`${file} holds fewer than ${KEY_FILE_BYTES_MIN} bytes: too few for a key`);
}

/** No command that writes to the file that was named: it may hold a key. */
function badKeyFile(message: string, cause?: unknown): RookeryError {
  const hint = 'name the file that holds the key of the backups; a new one is made with: openssl rand -base64 48';
  return new RookeryError('backup.key-file', message, { class: 'user', hint, cause });
}

function otherKind(kind: string): RookeryError {
  const [what, how] =
    kind === 'passphrase'
      ? ['a passphrase', 'give it in ROOKERY_BACKUP_PASSPHRASE, or when it is asked for; leave out --key-file']
      : ['a key file', 'name it with --key-file'];
  return new RookeryError('backup.key', `this backup was made with ${what}`, { class: 'user', hint: how });
}

function unknownRecipe(): RookeryError {
  return new RookeryError('backup.damaged', 'the backup asks for a key that is derived in an unknown way', {
    hint: 'It was changed, or made by a newer Rookery. Use another one: rookery backup list',
  });
}

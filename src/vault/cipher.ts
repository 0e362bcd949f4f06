/** AES-256-GCM as one buffer: nonce, ciphertext, tag. The context is authenticated, not stored. */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../clock.ts';

const NONCE = 12;
const TAG = 16;
export const KEY_BYTES = 32;

export function encrypt(key: Buffer, plain: Buffer, context: string, random: Random): Buffer {
  const nonce = random.bytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when key, context or a single bit is not what it was. */
export function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer {
  if (sealed.length < NONCE + TAG) throw new Error('too short');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(-TAG));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]);
}

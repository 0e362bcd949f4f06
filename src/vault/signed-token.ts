/** Short texts that only we can have written: what they say, until when, and a seal. Made for links that people pass on. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface TokenClaims {
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

export function signToken<T extends TokenClaims>(key: Buffer, claims: T): string {
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${body}.${seal(key, body).toString('base64url')}`;
}

/** Undefined for anything that we did not write, or whose time is over. */
export function verifyToken<T extends TokenClaims>(key: Buffer, token: string, now: number): T | undefined {
  const [body = '', signature = '', ...more] = token.split('.');
  const given = Buffer.from(signature, 'base64url');
  const wanted = seal(key, body);
  if (more.length > 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as T;
  return claims.expiresAt > now ? claims : undefined;
}

function seal(key: Buffer, body: string): Buffer {
  return createHmac('sha256', key).update(body).digest();
}

/**
 * Finds out who makes a request: client certificate, then bearer token, then anonymous. A credential that is shown
 * but wrong is 401 even where anonymous requests are welcome. Signature checks cost 100 µs and more, so results are
 * kept for a moment in a bounded cache; what can be revoked (ServiceAccounts) is looked up again on every request.
 */
import { createHash, timingSafeEqual, type X509Certificate } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { unauthorized } from '../status.ts';
import { certifiedIdentity, parseBundle } from './client-certificate.ts';
import { ANONYMOUS, type Authorizer, type Identity } from './identity.ts';
import { type Impersonation, impersonate } from './impersonation.ts';
import { INVALID_TOKEN, type ServiceAccountTokens, TokenError, type VerifiedToken } from './service-account-tokens.ts';

const CACHE_MS = 10_000;
const CACHE_SIZE = 256;

export interface RequestFacts {
  /** The Authorization header as sent. */
  authorization?: string;
  /** The certificate of the TLS connection; asked for only when needed. Keep one object per connection. */
  peerCertificate?(): X509Certificate | undefined;
  /** Asked for once the caller is known; may throw ApiError. */
  readonly impersonation?: Impersonation;
}

/** A token of the cluster's own list; only its SHA-256 is kept. */
export interface StaticToken {
  /** Hex. */
  sha256: string;
  user: string;
  uid?: string;
  groups: string[];
}

export interface Credentials {
  /** PEM bundle, read anew when it changes; certificates of any other issuer are refused. */
  clientCa: string;
  staticTokens: StaticToken[];
  /** Certificates that count no longer, by serial number; another array when it changes. */
  revoked?: readonly { serial: string }[];
}

export interface AuthenticatorOptions {
  credentials: Credentials;
  tokens: ServiceAccountTokens;
  /** Decides who may impersonate. */
  authorizer: Authorizer;
  clock: Clock;
  /** Default true; false turns requests without credentials into 401. */
  anonymous?: boolean;
}

interface Remembered {
  verified: VerifiedToken;
  until: number;
}

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  #roots: { pem: string; certificates: X509Certificate[] } | undefined;
  readonly #tokens = new Map<string, Remembered>();
  #certificates = new WeakMap<X509Certificate, { identity: Identity; expires: number }>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** Throws ApiError: 401, or 403 for an impersonation that is not allowed. */
  authenticate(facts: RequestFacts): Identity {
    const caller = this.#caller(facts);
    // Asked for only now: a stranger hears 401, however wrong the rest of the request is.
    const { impersonation } = facts;
    return impersonation ? impersonate(this.#options.authorizer, caller, impersonation) : caller;
  }

  /** Checks one bearer token for the given audiences (default this server's). Throws TokenError. */
  verifyToken(token: string, audiences?: string[]): VerifiedToken {
    const own = this.#options.tokens.audiences;
    const known = this.#staticIdentity(token);
    if (known) {
      // Static tokens are for this server and no other audience.
      const accepted = audiences ? audiences.filter((a) => own.includes(a)) : own;
      if (!accepted.length) throw new TokenError(INVALID_TOKEN);
      return { identity: known, audiences: accepted, expires: Number.POSITIVE_INFINITY };
    }
    if (!this.#options.tokens.recognises(token)) throw new TokenError(INVALID_TOKEN);
    return this.#options.tokens.verify(token, audiences);
  }

  #caller(facts: RequestFacts): Identity {
    const certificate = facts.peerCertificate?.();
    let refused = false;
    if (certificate) {
      try {
        return this.#certified(certificate);
      } catch {
        // Any failure to read a stranger's certificate is a refusal; a valid token may still speak for them.
        refused = true;
      }
    }
    const token = bearerToken(facts.authorization);
    if (token !== undefined) return this.#bearer(token);
    if (refused || this.#options.anonymous === false) throw unauthorized();
    return ANONYMOUS;
  }

  /** Everybody is looked at again: a key was retired, or a certificate revoked. */
  forget(): void {
    this.#tokens.clear();
    this.#certificates = new WeakMap();
  }

  #certified(certificate: X509Certificate): Identity {
    const now = this.#options.clock.now();
    const roots = this.#clientRoots();
    let known = this.#certificates.get(certificate);
    if (!known || now > known.expires) {
      known = certifiedIdentity(certificate, roots, now);
      const { revoked = [] } = this.#options.credentials;
      if (revoked.some(({ serial }) => serial === certificate.serialNumber)) throw unauthorized();
      this.#certificates.set(certificate, known);
    }
    return known.identity;
  }

  /** A cluster may get its client CA, or another one, after it was opened. */
  #clientRoots(): X509Certificate[] {
    const { clientCa } = this.#options.credentials;
    if (this.#roots?.pem !== clientCa) {
      this.#roots = { pem: clientCa, certificates: parseBundle(clientCa) };
      this.#certificates = new WeakMap();
    }
    return this.#roots.certificates;
  }

  #bearer(token: string): Identity {
    const now = this.#options.clock.now();
    const remembered = this.#tokens.get(token);
    try {
      if (remembered && now < remembered.until && now < remembered.verified.expires) {
        if (remembered.verified.binding) this.#options.tokens.checkAlive(remembered.verified.binding);
        return remembered.verified.identity;
      }
      const verified = this.verifyToken(token);
      this.#remember(token, verified, now);
      return verified.identity;
    } catch (error) {
      this.#tokens.delete(token);
      if (error instanceof TokenError) throw unauthorized();
      throw error;
    }
  }

  #remember(token: string, verified: VerifiedToken, now: number): void {
    // Oldest first: a Map keeps insertion order.
    if (this.#tokens.size >= CACHE_SIZE) this.#tokens.delete(this.#tokens.keys().next().value ?? '');
    this.#tokens.set(token, { verified, until: now + CACHE_MS });
  }

  #staticIdentity(token: string): Identity | undefined {
    const { staticTokens } = this.#options.credentials;
    if (!staticTokens.length) return undefined;
    const digest = createHash('sha256').update(token).digest();
    const match = staticTokens.find((known) => {
      const expected = Buffer.from(known.sha256, 'hex');
      return expected.length === digest.length && timingSafeEqual(expected, digest);
    });
    if (!match) return undefined;
    const groups = [...new Set([...match.groups, 'system:authenticated'])];
    return { user: match.user, groups, ...(match.uid ? { uid: match.uid } : {}) };
  }
}

/** What is kept of a static token. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The token of an Authorization header; other schemes are no credentials, as for the real server. */
export function bearerToken(header: string | undefined): string | undefined {
  const [scheme, token] = (header ?? '').trim().split(' ');
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined;
}

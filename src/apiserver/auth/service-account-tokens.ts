/**
 * Bearer tokens of ServiceAccounts: issued as JWTs (ES256), checked by signature, times and audience, and then
 * against the store, because a token dies with its ServiceAccount and with the object it is bound to.
 */
import { sign, verify } from 'node:crypto';
import type { Clock, Random } from '../../clock.ts';
import type { Store } from '../store/store.ts';
import type { Identity } from './identity.ts';
import type { ServiceAccountKey } from './service-account-key.ts';

const PREFIX = 'system:serviceaccount:';
/** Clocks of issuer and verifier may differ by this much (go-jose's default leeway). */
const LEEWAY_SECONDS = 60;

export interface ObjectName {
  name: string;
  uid?: string;
}

/** The `kubernetes.io` claim. */
export interface TokenBinding {
  namespace: string;
  serviceaccount: ObjectName;
  pod?: ObjectName;
  secret?: ObjectName;
  node?: ObjectName;
}

export interface TokenClaims {
  aud: string[];
  exp: number;
  iat: number;
  iss: string;
  jti: string;
  nbf: number;
  sub: string;
  'kubernetes.io': TokenBinding;
}

export interface VerifiedToken {
  identity: Identity;
  audiences: string[];
  /** Milliseconds since the epoch. */
  expires: number;
  /** What must still exist, for tokens of ServiceAccounts. */
  binding?: TokenBinding;
}

/** All that is said about a token that is none of ours. */
export const INVALID_TOKEN = 'invalid bearer token';

/** Why a token is refused; never shown to an unauthenticated client, but TokenReview reports it. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
}

export interface ServiceAccountTokensOptions {
  store: Store;
  clock: Clock;
  random: Random;
  /** The first one signs, all verify. */
  keys: ServiceAccountKey[];
  issuer: string;
  /** Audiences of this server; a token for none of them does not authenticate here. */
  audiences: string[];
  /** Told until when a token is valid, in milliseconds since the epoch; not of tokens in Secrets, which are found there. */
  onIssue?(expires: number): void;
}

export class ServiceAccountTokens {
  readonly audiences: string[];
  readonly issuer: string;
  readonly #options: ServiceAccountTokensOptions;

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.audiences = options.audiences;
    this.issuer = options.issuer;
  }

  issue(binding: TokenBinding, audiences: string[], expirationSeconds: number): string {
    const now = Math.floor(this.#options.clock.now() / 1000);
    const token = this.#sign({
      aud: audiences,
      exp: now + expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: this.#options.random.uuid(),
      'kubernetes.io': binding,
      nbf: now,
      sub: serviceAccountUser(binding.namespace, binding.serviceaccount.name),
    });
    if (!binding.secret) this.#options.onIssue?.((now + expirationSeconds + LEEWAY_SECONDS) * 1000);
    return token;
  }

  /** The token kept in a Secret of type kubernetes.io/service-account-token; lives as long as the Secret. */
  issueForSecret(binding: TokenBinding & { secret: ObjectName }): string {
    return this.issue(binding, this.audiences, 10 * 365 * 24 * 3600);
  }

  /** Whether it was signed with the key that signs now; says nothing about its validity. */
  isOfNewestKey(token: string): boolean {
    try {
      return decoded(token.split('.')[0] ?? '').kid === this.#options.keys[0]?.id;
    } catch {
      return false;
    }
  }

  /** Whether a bearer token claims to be ours; says nothing about its validity. */
  recognises(token: string): boolean {
    return claimedIssuer(token) === this.issuer;
  }

  /** Throws TokenError. `audiences`: those the caller accepts; default this server's. */
  verify(token: string, audiences: string[] = this.audiences): VerifiedToken {
    const claims = checkedClaims(signedPayload(this.#options.keys, token));
    const now = this.#options.clock.now() / 1000;
    if (claims.iss !== this.issuer) throw new TokenError('token was issued by another issuer');
    if (now > claims.exp + LEEWAY_SECONDS) throw new TokenError('service account token has expired');
    if (now < claims.nbf - LEEWAY_SECONDS) throw new TokenError('service account token is not valid yet');
    const accepted = claims.aud.filter((a) => audiences.includes(a));
    if (!accepted.length) {
      throw new TokenError(
        `token audiences ${goList(claims.aud)} is invalid for the target audiences ${goList(audiences)}`,
      );
    }
    this.checkAlive(claims['kubernetes.io']);
    return {
      identity: identityOf(claims),
      audiences: accepted,
      expires: (claims.exp + LEEWAY_SECONDS) * 1000,
      binding: claims['kubernetes.io'],
    };
  }

  /** Throws TokenError when the ServiceAccount or the bound object is gone, replaced or long marked for deletion. */
  checkAlive(binding: TokenBinding): void {
    const { namespace, serviceaccount, pod, secret, node } = binding;
    this.#same('/serviceaccounts', namespace, serviceaccount, 'service account');
    if (secret) this.#same('/secrets', namespace, secret, 'secret');
    if (pod) this.#same('/pods', namespace, pod, 'pod');
    else if (node) this.#same('/nodes', '', node, 'node');
  }

  #same(resource: string, namespace: string, { name, uid }: ObjectName, what: string): void {
    const metadata = this.#options.store.get({ resource, namespace, name })?.object().metadata;
    if (!metadata) throw new TokenError(`${what} ${JSON.stringify(name)} not found: the token has been invalidated`);
    if (metadata.uid !== uid) throw new TokenError(`${what} UID (${metadata.uid}) does not match claim (${uid})`);
    const deleted = metadata.deletionTimestamp ? Date.parse(metadata.deletionTimestamp) : Number.POSITIVE_INFINITY;
    if (deleted < this.#options.clock.now() - LEEWAY_SECONDS * 1000) {
      throw new TokenError(`${what} ${JSON.stringify(name)} has been deleted`);
    }
  }

  #sign(claims: TokenClaims): string {
    const key = this.#options.keys[0];
    if (!key) throw new Error('no key to sign ServiceAccount tokens with');
    const input = `${encoded({ alg: 'ES256', kid: key.id })}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  }
}

/** Whether one of the keys signed a token; says nothing about its times and what it is bound to. */
export function isSignedBy(keys: readonly VerifyingKey[], token: string): boolean {
  try {
    signedPayload(keys, token);
    return true;
  } catch (error) {
    if (error instanceof TokenError) return false;
    throw error;
  }
}

type VerifyingKey = Pick<ServiceAccountKey, 'id' | 'publicKey'>;

function signedPayload(keys: readonly VerifyingKey[], token: string): Record<string, unknown> {
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  const { alg, kid } = decoded(header);
  // One algorithm only: letting the token choose is how signatures get bypassed.
  if (rest.length || alg !== 'ES256') throw new TokenError('unexpected signature algorithm');
  const fitting = kid === undefined ? keys : keys.filter((key) => key.id === kid);
  const input = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  // Decoding skips what is no base64: one token, one spelling.
  if (bytes.toString('base64url') !== signature) throw new TokenError('invalid signature');
  const ofKey = ({ publicKey }: VerifyingKey) =>
    verify('sha256', input, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes);
  if (!fitting.some(ofKey)) throw new TokenError('invalid signature');
  return decoded(payload);
}

export function serviceAccountUser(namespace: string, name: string): string {
  return `${PREFIX}${namespace}:${name}`;
}

/** Groups every ServiceAccount of a namespace has. */
export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** `system:serviceaccount:ns:name` taken apart. */
export function splitServiceAccountUser(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(PREFIX)) return undefined;
  const [namespace, name, ...rest] = user.slice(PREFIX.length).split(':');
  return namespace && name && !rest.length ? { namespace, name } : undefined;
}

function identityOf(claims: TokenClaims): Identity {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
  const extra: Record<string, string[]> = { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] };
  const note = (what: string, object: ObjectName | undefined) => {
    if (object) extra[`authentication.kubernetes.io/${what}-name`] = [object.name];
    if (object?.uid) extra[`authentication.kubernetes.io/${what}-uid`] = [object.uid];
  };
  note('node', node);
  note('pod', pod);
  return {
    user: serviceAccountUser(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
    extra,
  };
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decoded(part: string): Record<string, unknown> {
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    if (value && typeof value === 'object') return value;
  } catch {
    // Not JSON: the same refusal as any other malformed token.
  }
  throw new TokenError('malformed token');
}

function claimedIssuer(token: string): unknown {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    return decoded(parts[1] ?? '').iss;
  } catch {
    return undefined;
  }
}

/** The payload of a correctly signed token; older or foreign signers with our key may still shape it differently. */
function checkedClaims(payload: Record<string, unknown>): TokenClaims {
  const aud = typeof payload.aud === 'string' ? [payload.aud] : payload.aud;
  const binding = payload['kubernetes.io'] as TokenBinding | undefined;
  const times = [payload.exp, payload.nbf ?? 0].every((t) => typeof t === 'number');
  if (!Array.isArray(aud) || !times || !binding?.namespace || !binding.serviceaccount?.name) {
    throw new TokenError('malformed token');
  }
  const claims = { ...payload, aud, nbf: payload.nbf ?? 0, 'kubernetes.io': binding } as TokenClaims;
  if (claims.sub !== serviceAccountUser(binding.namespace, binding.serviceaccount.name)) {
    throw new TokenError('the subject of the token is not its service account');
  }
  return claims;
}

function goList(values: string[]): string {
  return `[${values.map((v) => JSON.stringify(v)).join(' ')}]`;
}

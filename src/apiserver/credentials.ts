/**
 * The secrets a cluster is born with: the admin's token, the key of its ServiceAccount tokens and its client CA.
 * Kept in the cluster's own file, sealed where there is a sealer, so that a copied file is useless without the key.
 */
import type { Clock, Random } from '../clock.ts';
import type { Credentials, StaticToken } from './auth/authenticator.ts';
import { hashToken } from './auth/authenticator.ts';
import { MASTERS } from './auth/identity.ts';
import { loadServiceAccountKey, type ServiceAccountKey } from './auth/service-account-key.ts';
import { Generations } from './generations.ts';
import type { CertificateSigner } from './loops/certificate-signing.ts';
import type { Sealer, Store } from './store/store.ts';

/** Makes and signs client certificates; whoever knows X.509 brings it along. */
export interface ClientCertificates extends Pick<CertificateSigner, 'read'> {
  createCa(cluster: string): ClientCa;
  sign(ca: ClientCa, ...request: Parameters<CertificateSigner['sign']>): string;
}

export interface ClientCa {
  cert: string;
  key: string;
}

export interface RevokedCertificate {
  /** Hexadecimal, upper case, as OpenSSL prints it. */
  serial: string;
  /** Milliseconds since the epoch. */
  revokedAt: number;
}

const ADMIN = 'admin-token';
const TOKEN_KEYS = 'service-account-key';
const CLIENT_CAS = 'client-ca';
const REVOKED = 'revoked-certificates';

/** What recognises the credentials of a cluster; no credential can be made from it. */
export interface Verifiers {
  /** SHA-256 of the administrator's token, hex. */
  adminToken: string;
  /** Keys of ServiceAccount tokens. */
  tokenKeys: Pick<ServiceAccountKey, 'id' | 'publicKey'>[];
  /** PEM bundle. */
  clientCa: string;
}

export class ClusterCredentials {
  /** Keys of ServiceAccount tokens, PKCS#8 PEM. */
  readonly tokenKeys: Generations<string>;
  /** Certificates of these CAs are users of this cluster, and of no other. Empty until the first certificate is signed. */
  readonly clientCas: Generations<ClientCa>;
  readonly #meta: Store['meta'];
  readonly #sealer: Sealer | undefined;
  readonly #random: Random;
  readonly #clock: Clock;
  #revoked: RevokedCertificate[] | undefined;

  constructor(meta: Store['meta'], sealer: Sealer | undefined, random: Random, clock: Clock) {
    this.#meta = meta;
    this.#sealer = sealer;
    this.#random = random;
    this.#clock = clock;
    const kept = (name: string) => ({
      clock,
      read: () => this.#read(name),
      write: (text: string) => this.#write(name, text),
    });
    this.tokenKeys = new Generations({ ...kept(TOKEN_KEYS), readSingle: (text) => text });
    this.clientCas = new Generations({ ...kept(CLIENT_CAS), readSingle: (text) => JSON.parse(text) as ClientCa });
  }

  /** The token of the cluster's administrator; made on first use. */
  get adminToken(): string {
    return this.#secret(ADMIN, () => this.#random.bytes(32).toString('base64url'));
  }

  get revoked(): readonly RevokedCertificate[] {
    this.#revoked ??= JSON.parse(this.#meta.get(REVOKED) ?? '[]') as RevokedCertificate[];
    return this.#revoked;
  }

  /** False when it was revoked before. */
  revoke(serial: string): boolean {
    if (this.revoked.some((each) => each.serial === serial)) return false;
    const next = [...this.revoked, { serial, revokedAt: this.#clock.now() }];
    this.#meta.set(REVOKED, JSON.stringify(next));
    this.#revoked = next;
    return true;
  }

  /** Seals everything again with the newest data key. */
  reseal(): void {
    for (const name of [ADMIN, TOKEN_KEYS, CLIENT_CAS]) {
      const text = this.#read(name);
      if (text !== undefined) this.#write(name, text);
    }
  }

  /** Signs with the client CA, which is made when the first certificate is. */
  signer(cluster: string, certificates: ClientCertificates): CertificateSigner {
    return {
      read: certificates.read,
      sign: (...request) => {
        const ca = this.clientCas.ensure(() => certificates.createCa(cluster));
        const [, , seconds] = request;
        this.clientCas.noteUse(this.#clock.now() + seconds * 1000);
        return certificates.sign(ca, ...request);
      },
    };
  }

  /** Reads only: nothing is made that is not there yet. */
  get verifiers(): Verifiers {
    const keys = this.tokenKeys.all.map(({ value }) => loadServiceAccountKey(value));
    return {
      adminToken: hashToken(this.#read(ADMIN) ?? ''),
      tokenKeys: keys.map(({ id, publicKey }) => ({ id, publicKey })),
      clientCa: this.#clientBundle()(),
    };
  }

  forAuthenticator(): Credentials {
    const admin: StaticToken = { sha256: hashToken(this.adminToken), user: 'kubernetes-admin', groups: [MASTERS] };
    const bundle = this.#clientBundle();
    const revoked = () => this.revoked;
    return {
      get clientCa() {
        return bundle();
      },
      get revoked() {
        return revoked();
      },
      staticTokens: [admin],
    };
  }

  /** Put together anew only when the list changes: it is asked for with every request that shows a certificate. */
  #clientBundle(): () => string {
    let from: readonly unknown[] | undefined;
    let pem = '';
    return () => {
      const { all } = this.clientCas;
      if (all !== from) {
        from = all;
        pem = all.map(({ value }) => value.cert).join('');
      }
      return pem;
    };
  }

  #secret(name: string, make: () => string): string {
    const known = this.#read(name);
    if (known !== undefined) return known;
    const made = make();
    this.#write(name, made);
    return made;
  }

  #read(name: string): string | undefined {
    const text = this.#meta.get(name);
    if (text === undefined || !this.#sealer) return text;
    return this.#sealer.open(Buffer.from(text, 'base64'), `meta/${name}`);
  }

  #write(name: string, value: string): void {
    this.#meta.set(name, this.#sealer ? this.#sealer.seal(value, `meta/${name}`).toString('base64') : value);
  }
}

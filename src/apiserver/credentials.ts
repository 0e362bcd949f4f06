/**
 * The secrets a cluster is born with: the admin's token, the key of its ServiceAccount tokens and its client CA.
 * Kept in the cluster's own file, sealed where there is a sealer, so that a copied file is useless without the key.
 */
import type { Random } from '../clock.ts';
import type { Credentials, StaticToken } from './auth/authenticator.ts';
import { hashToken } from './auth/authenticator.ts';
import { MASTERS } from './auth/identity.ts';
import { generateServiceAccountKey } from './auth/service-account-key.ts';
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

export class ClusterCredentials {
  readonly #meta: Store['meta'];
  readonly #sealer: Sealer | undefined;
  readonly #random: Random;
  #clientCa: ClientCa | undefined;

  constructor(meta: Store['meta'], sealer: Sealer | undefined, random: Random) {
    this.#meta = meta;
    this.#sealer = sealer;
    this.#random = random;
  }

  /** The token of the cluster's administrator; made on first use. */
  get adminToken(): string {
    return this.#secret('admin-token', () => this.#random.bytes(32).toString('base64url'));
  }

  /** PKCS#8 PEM. */
  get serviceAccountKey(): string {
    return this.#secret('service-account-key', generateServiceAccountKey);
  }

  /** Certificates of this CA are users of this cluster, and of no other. Absent until someone made one. */
  get clientCa(): ClientCa | undefined {
    if (!this.#clientCa) {
      const text = this.#read('client-ca');
      if (text) this.#clientCa = JSON.parse(text) as ClientCa;
    }
    return this.#clientCa;
  }

  set clientCa(ca: ClientCa) {
    this.#write('client-ca', JSON.stringify(ca));
    this.#clientCa = ca;
  }

  /** Signs with the client CA, which is made when the first certificate is. */
  signer(cluster: string, certificates: ClientCertificates): CertificateSigner {
    return {
      read: certificates.read,
      sign: (...request) => {
        this.clientCa ??= certificates.createCa(cluster);
        return certificates.sign(this.clientCa, ...request);
      },
    };
  }

  forAuthenticator(): Credentials {
    const clientCa = () => this.clientCa?.cert ?? '';
    const admin: StaticToken = { sha256: hashToken(this.adminToken), user: 'kubernetes-admin', groups: [MASTERS] };
    return {
      get clientCa() {
        return clientCa();
      },
      staticTokens: [admin],
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

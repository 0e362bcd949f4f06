/**
 * Whether a request shows credentials of a cluster that is asleep, found out without waking it: strangers must not wake
 * clusters, nor learn which there are. What checks credentials (a hash, public keys, a certificate) is read once from
 * the file and kept while the cluster sleeps.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { bearerToken, type RequestFacts } from './auth/authenticator.ts';
import { certifiedIdentity, parseBundle } from './auth/client-certificate.ts';
import { isSignedBy } from './auth/service-account-tokens.ts';
import type { Clusters } from './clusters.ts';
import type { Verifiers } from './credentials.ts';

/** Of how many sleeping clusters they are kept; of others they are read again. */
const KEPT = 4096;

type Facts = Pick<RequestFacts, 'authorization' | 'peerCertificate'>;

export class SleepingCredentials {
  readonly #clusters: Pick<Clusters, 'peek' | 'isAwake' | 'onOpen' | 'onGone'>;
  readonly #clock: Clock;
  readonly #known = new Map<string, Promise<Verifiers | undefined>>();

  constructor(clusters: Pick<Clusters, 'peek' | 'isAwake' | 'onOpen' | 'onGone'>, clock: Clock) {
    this.#clusters = clusters;
    this.#clock = clock;
    // One that is awake, restored or made anew may get other credentials.
    clusters.onOpen((name) => this.#known.delete(name));
    clusters.onGone((name) => this.#known.delete(name));
  }

  /**
   * False where there is no such cluster. The signature of a ServiceAccount's token is checked, and not whether the
   * account is still there: that takes the cluster itself. Throws when its store cannot be read.
   */
  async recognises(name: string, facts: Facts): Promise<boolean> {
    const token = bearerToken(facts.authorization);
    const certificate = facts.peerCertificate?.();
    if (token === undefined && !certificate) return false;
    const verifiers = await this.#verifiers(name);
    if (!verifiers) return false;
    if (token !== undefined && (isAdmin(verifiers, token) || isSignedBy(verifiers.tokenKeys, token))) return true;
    return certificate !== undefined && this.#isCertified(verifiers, certificate);
  }

  #isCertified({ clientCa }: Verifiers, certificate: Parameters<typeof certifiedIdentity>[0]): boolean {
    try {
      certifiedIdentity(certificate, parseBundle(clientCa), this.#clock.now());
      return true;
    } catch {
      // Whatever is wrong with a stranger's certificate, it is none of the cluster's.
      return false;
    }
  }

  async #verifiers(name: string): Promise<Verifiers | undefined> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const reading = this.#clusters.peek(name, ({ credentials }) => credentials.verifiers);
    if (this.#known.size >= KEPT) this.#known.delete(this.#known.keys().next().value ?? '');
    this.#known.set(name, reading);
    const forget = () => this.#known.get(name) === reading && this.#known.delete(name);
    try {
      const verifiers = await reading;
      if (!verifiers || this.#clusters.isAwake(name)) forget();
      return verifiers;
    } catch (error) {
      forget();
      throw error;
    }
  }
}

function isAdmin({ adminToken }: Verifiers, token: string): boolean {
  const expected = Buffer.from(adminToken, 'hex');
  const shown = createHash('sha256').update(token).digest();
  return expected.length === shown.length && timingSafeEqual(expected, shown);
}

/**
 * Finds the cluster that a request is for, and who makes it. Tenants come after credentials: a caller without
 * credentials of a tenant neither wakes it nor learns that it is there. There is no anonymous access to tenants.
 */
import { type Clock, sleep } from '../../clock.ts';
import type { RequestFacts } from '../auth/authenticator.ts';
import { ANONYMOUS, type Identity } from '../auth/identity.ts';
import type { Cluster } from '../cluster.ts';
import { type Clusters, ROOT } from '../clusters.ts';
import { SleepingCredentials } from '../sleeping-credentials.ts';
import { ApiError, unauthorized, unknownPath } from '../status.ts';

/** What a refusal takes: longer than looking into the file of a cluster that is asleep, so that it does not tell one from none. */
const REFUSAL_MS = 25;

interface Caller {
  cluster: Cluster;
  identity: Identity;
}

export class Callers {
  readonly #clusters: Clusters;
  readonly #clock: Clock;
  readonly #hasRoot: boolean;
  readonly #sleeping: SleepingCredentials;

  constructor(clusters: Clusters, clock: Clock, hasRoot: boolean) {
    this.#clusters = clusters;
    this.#clock = clock;
    this.#hasRoot = hasRoot;
    this.#sleeping = new SleepingCredentials(clusters, clock);
  }

  /** Throws ApiError. */
  find(name: string, facts: RequestFacts): Promise<Caller> {
    return name === ROOT ? this.#inRoot(facts) : this.#inTenant(name, facts);
  }

  async #inRoot(facts: RequestFacts): Promise<Caller> {
    if (!this.#hasRoot) throw unknownPath();
    const cluster = await this.#clusters.get(ROOT);
    if (!cluster) throw starting();
    return { cluster, identity: cluster.authenticator.authenticate(facts) };
  }

  /** Whatever is wrong (no such cluster, no credentials, those of another), the answer and its time are the same. */
  async #inTenant(name: string, facts: RequestFacts): Promise<Caller> {
    const began = this.#clock.now();
    const caller = await this.#recognised(name, facts);
    if (caller) return caller;
    await sleep(this.#clock, Math.max(0, began + REFUSAL_MS - this.#clock.now()));
    throw unauthorized('Unauthorized: there is no such cluster, or these are not its credentials');
  }

  async #recognised(name: string, facts: RequestFacts): Promise<Caller | undefined> {
    if (!this.#clusters.isAwake(name) && !(await this.#sleeping.recognises(name, facts))) return undefined;
    const cluster = await this.#clusters.get(name);
    try {
      const identity = cluster?.authenticator.authenticate(facts) ?? ANONYMOUS;
      return cluster && identity !== ANONYMOUS ? { cluster, identity } : undefined;
    } catch (error) {
      if (error instanceof ApiError && error.code === 401) return undefined;
      throw error;
    }
  }
}

function starting(): ApiError {
  return new ApiError(503, 'ServiceUnavailable', 'the server is starting, try again in a moment', {
    retryAfterSeconds: 1,
  });
}

/**
 * The request that work is done for: which user of which tenant sent it, and whether its answer is still wanted. A request
 * ends at its deadline, when its client goes away, or when it is answered; work for it stops then.
 */
import { ApiError } from './status.ts';

/** Who work is done for: users of a tenant, and tenants, take turns at what is scarce. */
export interface Owner {
  tenant: string;
  user: string;
}

export class RequestScope implements Owner {
  readonly tenant: string;
  /** Empty until the request is authenticated. */
  user = '';
  #reason: ApiError | undefined;
  #listeners: Set<(reason: ApiError) => void> | undefined;

  constructor(tenant: string) {
    this.tenant = tenant;
  }

  /** The first reason counts. */
  end(reason: ApiError): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const listener of this.#listeners ?? []) listener(reason);
    this.#listeners = undefined;
  }

  get hasEnded(): boolean {
    return this.#reason !== undefined;
  }

  /** Throws the reason where the request has ended: its work must not go on. */
  check(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Calls `listener` once, at once where the request has ended already. The function returned takes that back. */
  onEnd(listener: (reason: ApiError) => void): () => void {
    if (this.#reason) {
      listener(this.#reason);
      return () => {};
    }
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => void this.#listeners?.delete(listener);
  }
}

/** The client does not read this answer; 499 is what proxies log for it. One instance: making an error with its stack is slow. */
export const CLIENT_GONE = new ApiError(499, 'ClientClosedRequest', 'the client closed the connection');

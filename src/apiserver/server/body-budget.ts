/**
 * How many bytes of large request bodies the process works on at a time. A body becomes values that need many times its
 * size in memory; what would be too much at once is refused, and comes again later.
 */
import type { Owner, RequestScope } from '../request-scope.ts';
import { tooManyRequests } from '../status.ts';

const MB = 1024 * 1024;
/** Smaller bodies are not counted: how many requests there are at a time is limited otherwise. */
export const COUNTED_FROM = 64 * 1024;

interface Limits {
  total: number;
  tenant: number;
  user: number;
}

/** Two of the largest bodies of a user, and room for other tenants whatever one does. */
const LIMITS: Limits = { total: 42 * MB, tenant: 14 * MB, user: 7 * MB };

export class BodyBudget {
  readonly #limits: Limits;
  /** By owner; what is zero is absent. */
  readonly #used = new Map<string, number>();

  constructor(limits = LIMITS) {
    this.#limits = limits;
  }

  /** Counts bytes of a body until its request ends. Throws 429 where that is too much at once. */
  take(scope: RequestScope, bytes: number): void {
    const counts = countsOf(scope);
    for (const [limit, key] of counts) {
      if ((this.#used.get(key) ?? 0) + bytes > this.#limits[limit]) throw tooMuchAtOnce(limit);
    }
    for (const [, key] of counts) this.#used.set(key, (this.#used.get(key) ?? 0) + bytes);
    scope.onEnd(() => {
      for (const [, key] of counts) this.#give(key, bytes);
    });
  }

  #give(key: string, bytes: number): void {
    const left = (this.#used.get(key) ?? 0) - bytes;
    if (left > 0) this.#used.set(key, left);
    else this.#used.delete(key);
  }
}

function countsOf({ tenant, user }: Owner): [limit: keyof Limits, key: string][] {
  return [
    ['total', ''],
    ['tenant', JSON.stringify([tenant])],
    ['user', JSON.stringify([tenant, user])],
  ];
}

const WHOSE = { total: 'all clients', tenant: 'this cluster', user: 'this user' };

function tooMuchAtOnce(limit: keyof Limits): Error {
  return tooManyRequests(`too many bytes of request bodies of ${WHOSE[limit]} at once, please try again later`, 1);
}

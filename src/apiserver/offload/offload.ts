/**
 * Work on what users wrote: done on the main thread in turns of the event loop, or by a worker thread where that would hold
 * the event loop for long. It stops when the request ends that it is done for.
 */
import { boundedSteps, TakesLong } from '../allowance.ts';
import type { Authorizer } from '../auth/identity.ts';
import type { RequestScope } from '../request-scope.ts';
import { inTurns } from '../turns.ts';
import { Threads } from './threads.ts';
import type { Work } from './work.ts';

/** For work that keeps nothing. */
export const NO_SUBJECT = {};

/** For all clusters of the process. */
let threads: Threads | undefined;

export function provideThread(): void {
  threads ??= new Threads();
}

type Result<N extends keyof Work> = Awaited<ReturnType<Work[N]>>;

export interface OffloadOptions {
  /** The request that the work is done for; none for the server's own loops. */
  scope?: RequestScope;
  /** Who answers what the work asks about permissions. */
  authorizer?: Authorizer;
}

/** Where a step of `steps` takes long, a worker thread does the same `work` from the start. */
export async function offload<N extends keyof Work>(
  steps: Generator<void, Result<N>>,
  work: N,
  args: Parameters<Work[N]>,
  { scope, authorizer }: OffloadOptions = {},
): Promise<Result<N>> {
  if (!threads) return inTurns(steps, scope);
  try {
    return await inTurns(boundedSteps(steps), scope);
  } catch (error) {
    if (!(error instanceof TakesLong)) throw error;
    return threads.do(work, args, scope, authorizer);
  }
}

/** Work that is known to take long. */
export async function offloadNow<N extends keyof Work>(
  work: N,
  args: Parameters<Work[N]>,
  scope?: RequestScope,
): Promise<Result<N>> {
  threads ??= new Threads();
  return threads.do(work, args, scope, undefined);
}

/** Work on what users wrote: done on the main thread in turns of the event loop, or by a worker thread where that would hold the event loop for long. */
import { boundedSteps, TakesLong } from '../allowance.ts';
import type { Authorizer } from '../auth/identity.ts';
import { inTurns } from '../turns.ts';
import { Thread } from './thread.ts';
import type { Work } from './work.ts';

/** For work that keeps nothing. */
export const NO_SUBJECT = {};

/** For all clusters of the process. */
let thread: Thread | undefined;

export function provideThread(): void {
  thread ??= new Thread();
}

/** Where a step of `steps` takes long, the thread does the same `work` from the start. Without one, it takes as long as it takes. */
export async function offload<N extends keyof Work>(
  steps: Generator<void, ReturnType<Work[N]>>,
  work: N,
  [subject, ...args]: Parameters<Work[N]>,
  authorizer?: Authorizer,
): Promise<ReturnType<Work[N]>> {
  if (!thread) return inTurns(steps);
  try {
    return await inTurns(boundedSteps(steps));
  } catch (error) {
    if (!(error instanceof TakesLong)) throw error;
    return thread.do(work, subject, args, authorizer);
  }
}

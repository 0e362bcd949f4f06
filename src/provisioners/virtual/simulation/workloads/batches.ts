/**
 * Many writes at once: together, so that they share commits, but never so many that nobody else gets a turn between them.
 */
import { turn } from '../../../../apiserver/loops/loop.ts';

const MOST = 4;

/** One, two, four, … as long as all succeed: no flood of refusals when the first is refused. */
export async function slowStart(
  count: number,
  make: () => Promise<unknown>,
): Promise<{ made: number; error?: unknown }> {
  let made = 0;
  for (let size = 1; made < count; size = Math.min(size * 2, MOST)) {
    const batch = Math.min(size, count - made);
    const results = await Promise.allSettled(Array.from({ length: batch }, make));
    made += results.filter((result) => result.status === 'fulfilled').length;
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) return { made, error: failed.reason };
    await turn();
  }
  return { made };
}

/** Throws the first failure, after all have been tried. */
export async function together<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let failure: PromiseRejectedResult | undefined;
  for (let at = 0; at < items.length; at += MOST) {
    const results = await Promise.allSettled(items.slice(at, at + MOST).map(work));
    failure ??= results.find((result): result is PromiseRejectedResult => result.status === 'rejected');
    await turn();
  }
  if (failure) throw failure.reason;
}

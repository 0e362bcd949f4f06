/** How long things take, and many of them at once. */

export async function elapsed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function quantile(samples: number[], q: number): number {
  return [...samples].sort((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * q))] ?? 0;
}

export const median = (samples: number[]): number => quantile(samples, 0.5);

/** Calls `work` with 0, 1, 2… keeping `concurrency` calls under way, until `isOver`. Resolves with how many finished. */
export async function inFlight(
  concurrency: number,
  isOver: (n: number) => boolean,
  work: (n: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  let done = 0;
  const worker = async () => {
    while (!isOver(next)) {
      await work(next++);
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return done;
}

/** Calls per second over about `ms`. */
export async function rate(concurrency: number, ms: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  const done = await inFlight(concurrency, () => performance.now() - start > ms, work);
  return (done / (performance.now() - start)) * 1000;
}

/** Many creations at once without a flood of refusals: one, two, four, … as long as all succeed. */
export async function slowStart(
  count: number,
  make: () => Promise<unknown>,
): Promise<{ made: number; error?: unknown }> {
  let made = 0;
  for (let size = 1; made < count; size *= 2) {
    const batch = Math.min(size, count - made);
    const results = await Promise.allSettled(Array.from({ length: batch }, make));
    made += results.filter((result) => result.status === 'fulfilled').length;
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) return { made, error: failed.reason };
  }
  return { made };
}

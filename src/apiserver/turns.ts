/** Large objects are worked on in several turns of the event loop: between two stages, everyone else gets it. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes or characters. Below this, all stages of a write together take a few milliseconds. */
export const LARGE = 128 * 1024;

export function isLarge(size: number | undefined): boolean {
  return size !== undefined && size > LARGE;
}

export async function breathe(size: number | undefined): Promise<void> {
  if (isLarge(size)) await nextTurn();
}

/**
 * Short waits. Objects keep whole seconds only, so a wait below a second cannot be read off them: it is remembered here,
 * and simply starts again after a sleep or a restart.
 */
import type { World } from './world.ts';

const WAITS = Symbol('waits');

/** Milliseconds left of a wait that began at `since` (an object's timestamp); 0 when it is over. */
export function left(world: World, key: string, since: string | undefined, ms: number): number {
  if (ms >= 1000) return Math.max(0, Date.parse(since ?? world.timestamp) + ms - world.now);
  if (ms <= 0) return 0;
  const known = world.scratch(WAITS, () => new Map<string, number>());
  const due = known.get(key);
  if (due === undefined) {
    known.set(key, world.now + ms);
    return ms;
  }
  if (due > world.now) return due - world.now;
  known.delete(key);
  return 0;
}

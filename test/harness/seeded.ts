/** Mulberry32: chance that is small, and the same on every machine. */
export interface Chance {
  /** In [0, 1). */
  (): number;
  pick<T>(all: readonly T[]): T;
}

export function seeded(seed: number): Chance {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return Object.assign(next, { pick: <T>(all: readonly T[]) => all[Math.floor(next() * all.length)] as T });
}

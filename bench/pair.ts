/** Our server and, where the bed has it, the real one, running side by side and measured in turns. */
import type { RookeryRunning } from './servers/rookery.ts';
import type { Running } from './servers/server.ts';
import type { Row } from './table.ts';
import { median } from './timing.ts';

export interface Pair {
  ours: RookeryRunning;
  theirs?: Running;
}

export interface Both {
  ours: number;
  theirs?: number;
}

export interface Effort {
  /** How often each side gets its turn; medians are reported. */
  rounds: number;
  /** The same for starts: short, and so a few milliseconds more or less of everything else show. */
  starts: number;
  /** Of one turn. */
  ms: number;
  objects: number;
  tenants: number;
}

/** Turns alternate, so that whatever else the machine does hits both alike. */
export async function inTurns(
  pair: Pair,
  rounds: number,
  measure: (server: Running, round: number) => Promise<number>,
): Promise<Both> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await measure(pair.ours, round));
    if (pair.theirs) theirs.push(await measure(pair.theirs, round));
  }
  return { ours: median(ours), ...(pair.theirs ? { theirs: median(theirs) } : {}) };
}

export function row(what: string, unit: string, both: Both, goal?: Row['goal']): Row {
  return { what, unit, ...both, ...(goal ? { goal } : {}) };
}

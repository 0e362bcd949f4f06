/** What a cluster of each kind costs, as `bench/` measured it; nothing is said about what was not measured. */
import { existsSync, readFileSync } from 'node:fs';

export interface Overhead {
  /** From the request to a cluster that can be used, one node. */
  seconds: number;
  memoryMiB: number;
  /** The machine and the day. */
  measuredOn: string;
}

const FILE = new URL('./overhead.json', import.meta.url);

export function overheadOf(provisioner: string): Overhead | undefined {
  if (!existsSync(FILE)) return undefined;
  return (JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Overhead>)[provisioner];
}

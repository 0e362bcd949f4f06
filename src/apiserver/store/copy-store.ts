/** A closed store as a new file, with what a crash left in its log. */
import { stat } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import { cloneStore } from './clone.ts';
import { openStore } from './sqlite-store.ts';

export async function copyStore(file: string, to: string, clock: Clock): Promise<void> {
  const log = await stat(`${file}-wal`).catch(() => undefined);
  if (!log || log.size === 0) return await cloneStore(file, to);
  const store = openStore(file, { clock, retention: false });
  await store.snapshot(to).finally(() => store.close());
}

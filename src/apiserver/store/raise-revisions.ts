/**
 * Makes a store that was copied some time ago later than everything clients have seen of the one it was copied from: they watch from revisions that it
 * does not have, and would miss what is written under them again. They are told that their revision is gone, and list.
 */
import type { Clock } from '../../clock.ts';
import { openFile } from './format.ts';
import { writeMeta } from './meta.ts';
import { openStore } from './sqlite-store.ts';

/** More writes than a cluster sees in the life of a backup. */
const LEAP = 1_000_000_000;

export async function raiseRevisions(file: string, clock: Clock): Promise<void> {
  const store = openStore(file, { clock, retention: false });
  const rv = store.rv + LEAP;
  await store.compact(store.rv).finally(() => store.close());
  const db = openFile(file, { synchronous: 'full', readonly: false });
  try {
    db.transaction(() => {
      for (const name of ['compactedRv', 'sweptRv']) writeMeta(db, name, String(rv));
    })();
  } finally {
    db.close();
  }
}

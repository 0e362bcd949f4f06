/**
 * The state of one moment as a store of its own, and the way back to it. Going back is one transaction of ordinary changes: it happens whole or not
 * at all, resource versions only rise, and whoever watched from before finds every step of it in the history.
 */
import { open, rename, rm, writeFile } from 'node:fs/promises';
import type { Checkpoints } from './checkpoints.ts';
import type { Connection } from './format.ts';
import type { Store, Stored } from './store.ts';

/** Makes `to` share the blocks of `from` where the file system can; false where it cannot, with nothing made. */
export type CloneFile = (from: string, to: string) => Promise<boolean>;

/** Up to this size it is read at once, in the time of a few pages; beyond, in pieces that let others have their turn. */
const AT_ONCE_BYTES = 64 * 2 ** 20;
const PAGES_PER_TURN = 1000;

/** Under `to` there is never anything but a whole snapshot, whenever we are killed. */
export async function writeSnapshot(
  { db, file, checkpoints }: { db: Connection; file: string; checkpoints: Checkpoints | undefined },
  to: string,
  clone?: CloneFile,
): Promise<void> {
  const draft = `${to}.new`;
  await rm(draft, { force: true });
  if (!clone || !checkpoints || !(await cloned(checkpoints, () => clone(file, draft)))) await copied(db, draft);
  const handle = await open(draft, 'r+');
  await handle.sync().finally(() => handle.close());
  await rename(draft, to);
}

/** While the log is not copied into it, the file itself does not change: writers go on beside the copy. */
async function cloned(checkpoints: Checkpoints, clone: () => Promise<boolean>): Promise<boolean> {
  if (!(await checkpoints.runAndHold())) return false;
  try {
    return await clone();
  } finally {
    checkpoints.release();
  }
}

async function copied(db: Connection, draft: string): Promise<void> {
  const pages = db.pragma('page_count', { simple: true }) as number;
  const bytes = pages * (db.pragma('page_size', { simple: true }) as number);
  if (bytes <= AT_ONCE_BYTES) await writeFile(draft, db.serialize(), { mode: 0o600 });
  else await db.backup(draft, { progress: () => PAGES_PER_TURN });
}

/** Objects become what they were; of the store's own settings, only those named. */
export function restoreInto(live: Store, then: Store, settings: readonly string[] = []): Promise<void> {
  return live.write((tx) => {
    for (const resource of new Set([...live.resources(), ...then.resources()])) {
      const wanted = then.list({ resource }).items;
      const known = new Map(wanted.map((stored) => [nameOf(stored), uidOf(stored)]));
      for (const now of tx.list(resource)) {
        // Another object of the same name is not a later state of this one: who watches has to see it go.
        if (!known.has(nameOf(now)) || known.get(nameOf(now)) !== uidOf(now)) tx.delete(now.key);
      }
      for (const stored of wanted) tx.put(stored.key, structuredClone(stored.object()));
    }
    for (const name of settings) {
      const value = then.meta.get(name);
      if (value !== undefined) live.meta.set(name, value);
    }
  });
}

function nameOf({ key }: Stored): string {
  return `${key.namespace}/${key.name}`;
}

function uidOf(stored: Stored): string | undefined {
  return stored.object().metadata.uid;
}

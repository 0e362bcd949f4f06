/** Private files: readable by their owner only, and either the old or the new content after a crash, never half of one. */
import { chmod, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Random, systemRandom } from '../clock.ts';
import { diskFailure } from '../errors.ts';

/** Replaces the file (and makes its folder, 0700). */
export async function writePrivate(
  path: string,
  content: string | Buffer,
  random: Random = systemRandom,
): Promise<void> {
  const draft = await writeDraft(path, content, random);
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Writes the file unless it says that already: a start on a full disk has nothing to write then. */
export async function keepPrivate(path: string, content: string): Promise<void> {
  const known = await readFile(path, 'utf8').catch(() => undefined);
  if (known !== content) await writePrivate(path, content);
}

/** Makes the file unless it exists; false when someone else was first. */
export async function createPrivate(
  path: string,
  content: string | Buffer,
  random: Random = systemRandom,
): Promise<boolean> {
  const draft = await writeDraft(path, content, random);
  try {
    // Unlike rename, link never replaces; and the file appears with all of its content.
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
}

async function writeDraft(path: string, content: string | Buffer, random: Random): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = join(dirname(path), `.${random.bytes(8).toString('hex')}.draft`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      // The umask may have taken more than it should.
      await chmod(draft, 0o600);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    return draft;
  } catch (error) {
    await rm(draft, { force: true });
    throw diskFailure(error);
  }
}

/** A new name is only durable once its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

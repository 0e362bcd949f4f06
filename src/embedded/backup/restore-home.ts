/**
 * A whole home out of a backup. Everything is unpacked beside the home's parts and checked to the last byte, then the parts are exchanged. A note says how
 * far it got: broken off before the exchange, the home does not start until a person restores again; in its middle, the next start finishes it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { raiseRevisions } from '../../apiserver/index.ts';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { BackupSecret } from '../../vault/backup-key.ts';
import { writePrivate } from '../../vault/files.ts';
import type { Home } from '../home.ts';
import { makeHome } from '../usable-home.ts';
import { type OnProgress, unpack } from './pack.ts';
import { filesBelow, MANIFEST, type Manifest } from './stage.ts';

/** What makes a home this home; programs, logs and the files of workspaces are not in backups and stay. */
const PARTS = ['keys.json', 'pki', 'links.key', 'provisioners', 'data'];
/** Written anew by the next start. */
const DERIVED = ['kubeconfig', 'clusters'];

interface Note {
  phase: 'unpacking' | 'exchanging';
  file: string;
  /** Folder in the home where what was there is kept. */
  aside: string;
  /** What was there. */
  there: string[];
}

export interface RestoreHomeOptions {
  home: Home;
  file: string;
  secret: BackupSecret;
  /** What is there may be replaced; it is kept aside. */
  replace: boolean;
  clock: Clock;
  onProgress?: OnProgress;
}

/** The caller has claimed the home. */
export async function restoreHome(options: RestoreHomeOptions): Promise<{ manifest: Manifest; aside?: string }> {
  const { home, file, secret, clock, onProgress } = options;
  makeHome(home.path);
  const there = [...PARTS, ...DERIVED].filter((part) => existsSync(join(home.path, part)));
  if (there.length > 0 && !options.replace) throw notEmpty(home, there);
  const aside = `replaced-${new Date(clock.now()).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  const staged = home.restoring;
  await rm(staged, { recursive: true, force: true });
  const note: Note = { phase: 'unpacking', file, aside, there };
  const hadNote = existsSync(home.restoreNote);
  await writePrivate(home.restoreNote, JSON.stringify(note));
  try {
    const manifest = await unpack({ file, secret, to: staged, onProgress });
    for (const path of await filesBelow(staged, 'data')) {
      if (path.endsWith('.db')) await raiseRevisions(join(staged, path), clock);
    }
    await rm(join(staged, MANIFEST), { force: true });
    await writePrivate(home.restoreNote, JSON.stringify({ ...note, phase: 'exchanging' }));
    await finishRestore(home);
    return { manifest, ...(there.length > 0 ? { aside: join(home.path, aside) } : {}) };
  } catch (error) {
    // Nothing of the home was touched yet, unless an earlier try was.
    await rm(staged, { recursive: true, force: true });
    if (!hadNote) await rm(home.restoreNote, { force: true });
    throw error;
  }
}

/** At every start: finishes an exchange that was broken off. Throws where only a person can go on. */
export async function finishRestore(home: Home): Promise<void> {
  if (!existsSync(home.restoreNote)) return;
  const { phase, aside, file, there } = JSON.parse(await readFile(home.restoreNote, 'utf8')) as Note;
  if (phase !== 'exchanging') throw unfinished(file);
  const [from, kept] = [home.restoring, join(home.path, aside)];
  await mkdir(kept, { recursive: true, mode: 0o700 });
  const move = (path: string, to: string) => (existsSync(path) ? rename(path, to) : Promise.resolve());
  for (const part of [...PARTS, ...DERIVED]) {
    const [mine, fresh, old] = [join(home.path, part), join(from, part), join(kept, part)];
    // What is aside already was moved by a try that was broken off: what is here now is the restored one.
    if (there.includes(part) && !existsSync(old)) await move(mine, old);
    await move(fresh, mine);
  }
  await rm(from, { recursive: true, force: true });
  await rm(home.restoreNote, { force: true });
  if (readdirSync(kept).length === 0) await rm(kept, { recursive: true });
}

function notEmpty(home: Home, there: string[]): RookeryError {
  return new RookeryError(
    'backup.home-not-empty',
    `${home.path} has data (${there.join(', ')}), which a restore would replace`,
    {
      class: 'user',
      hint: 'say so with --replace: what is there is kept beside it; or name an empty folder with --home; or restore one cluster with --cluster',
    },
  );
}

function unfinished(file: string): RookeryError {
  return new RookeryError(
    'home.restore-unfinished',
    'a restore into this home was broken off before anything was exchanged',
    {
      hint: `Restore again: rookery backup restore ${file}. To go on without it, remove restore.json from the home`,
    },
  );
}

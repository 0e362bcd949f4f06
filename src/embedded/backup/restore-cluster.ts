/** One cluster's store out of a backup, laid ready to take the place of the one there is: with the master keys of this home, and later than all that was seen of it. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openStore, raiseRevisions } from '../../apiserver/index.ts';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { BackupSecret } from '../../vault/backup-key.ts';
import { Keyring } from '../../vault/keyring.ts';
import { rewrapDataKeys } from '../../vault/rewrap.ts';
import type { Home } from '../home.ts';
import { type OnProgress, unpack } from './pack.ts';
import type { Manifest } from './stage.ts';

export interface LayReadyOptions {
  home: Home;
  file: string;
  secret: BackupSecret;
  tenant: string;
  clock: Clock;
  onProgress?: OnProgress;
}

export async function layReady({ home, file, secret, tenant, clock, onProgress }: LayReadyOptions): Promise<Manifest> {
  const path = `data/clusters/${tenant}.db`;
  const place = `${home.restoredStore(tenant)}.${process.pid}`;
  try {
    await rm(place, { recursive: true, force: true });
    const wants = (each: string) => each === path || each === 'keys.json';
    const manifest = await unpack({ file, secret, to: place, wants, onProgress });
    if (!manifest.clusters.includes(tenant)) throw notInIt(tenant, manifest);
    const store = openStore(join(place, path), { clock, retention: false });
    try {
      const [theirs, ours] = [await Keyring.open(join(place, 'keys.json')), await Keyring.open(home.keyring)];
      rewrapDataKeys(store.meta, `cluster ${tenant}`, theirs, ours);
    } finally {
      await store.close();
    }
    await raiseRevisions(join(place, path), clock);
    await mkdir(dirname(home.restoredStore(tenant)), { recursive: true, mode: 0o700 });
    await rename(join(place, path), home.restoredStore(tenant));
    return manifest;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function notInIt(tenant: string, { clusters, skipped }: Manifest): RookeryError {
  const why = skipped.find(({ cluster }) => cluster === tenant)?.why;
  return new RookeryError(
    'backup.no-such-cluster',
    `the cluster ${tenant} is not in this backup${why ? `: ${why}` : ''}`,
    {
      class: 'user',
      hint: `it has ${clusters.join(', ') || 'no clusters'}; see \`rookery backup list\` for others`,
    },
  );
}

/** `rookery backup create`: everything of this home in one sealed file, while it is in use. */
import { rm } from 'node:fs/promises';
import type { KubeObject } from '../api/object.ts';
import { configMaps } from '../api/resources.ts';
import { systemClock, systemRandom } from '../clock.ts';
import { pack } from '../embedded/backup/pack.ts';
import { backupRequest } from '../embedded/backup/requests.ts';
import { RookeryError } from '../errors.ts';
import { ignoreNotFound, type ObjectStore, waitFor } from '../kube/index.ts';
import { type BackupOptions, folderOf, progressLine, size } from './backup-options.ts';
import { backupSecret } from './backup-secret.ts';
import { connect } from './connect.ts';
import { count } from './numbers.ts';
import { print } from './output.ts';

interface CreateOptions extends BackupOptions {
  keyFile?: string;
  keep?: string;
}

const PATIENCE_MS = 600_000;

export async function createBackup(options: CreateOptions): Promise<void> {
  const keep = count(options.keep, '--keep');
  const secret = await backupSecret(options.keyFile, true);
  const { home, store, signal, close } = await connect(options);
  const request = backupRequest(systemRandom.uuid());
  const key = { namespace: request.metadata.namespace, name: request.metadata.name as string };
  const from = home.staged(key.name);
  try {
    const folder = folderOf(options, home);
    await copied(store, request, signal);
    const onProgress = progressLine('packing', options.output);
    const made = await pack({ from, folder, secret, clock: systemClock, random: systemRandom, onProgress });
    const removed = keep === undefined ? [] : await folder.prune(keep);
    const { manifest, ...facts } = made;
    const { clusters, skipped } = manifest;
    await print(options.output, { ...facts, clusters, skipped, removed }, () =>
      [
        `${made.file}: ${size(made.bytes)}, the control plane and ${clusters.length} clusters`,
        ...skipped.map(({ cluster, why }) => `not in it: ${cluster} (${why})`),
        ...removed.map((file) => `removed: ${file}`),
        '',
      ].join('\n'),
    );
    if (skipped.length > 0) process.exitCode = 1;
  } finally {
    await rm(from, { recursive: true, force: true });
    await store
      .delete(configMaps, key)
      .catch(ignoreNotFound)
      .catch(() => {});
    await close();
  }
}

/** The process that has the stores open makes the copies. */
async function copied(
  store: ObjectStore,
  request: ReturnType<typeof backupRequest>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = request.metadata;
  await store.create(configMaps, request, { signal });
  const answered = (object: KubeObject | undefined) => object?.data?.state !== undefined;
  const options = { timeoutMs: PATIENCE_MS, signal, what: 'copies of the stores' };
  const answer = await waitFor(store, configMaps, { namespace, name: name as string }, answered, options);
  if (answer?.data?.state === 'staged') return;
  throw new RookeryError(
    'backup.failed',
    `the stores cannot be copied: ${answer?.data?.message ?? 'the request is gone'}`,
    {
      hint: 'nothing was made; see `rookery status` and the log of the control plane',
    },
  );
}

/** `rookery backup list` and `rookery backup verify`: what there is, and whether it can be restored. */
import { unpack } from '../embedded/backup/pack.ts';
import { type BackupOptions, existingBackup, folderOf, progressLine, size } from './backup-options.ts';
import { backupSecret } from './backup-secret.ts';
import { homeOf } from './connect.ts';
import { age, columns, print } from './output.ts';

export async function listBackups(options: BackupOptions): Promise<void> {
  const folder = folderOf(options, homeOf(options));
  const found = await folder.list();
  await print(options.output, found, () =>
    found.length === 0
      ? `no backups in ${folder.path}; make one with \`rookery backup create\`\n`
      : columns(
          ['FILE', 'AGE', 'SIZE', 'COMPLETE'],
          found.map(({ file, createdAt, bytes, isComplete }) => [
            file,
            age(createdAt, Date.now()),
            size(bytes),
            isComplete ? 'yes' : 'no',
          ]),
        ),
  );
}

export async function verifyBackup(options: BackupOptions & { keyFile?: string }, name: string): Promise<void> {
  const file = existingBackup(name);
  const secret = await backupSecret(options.keyFile, false);
  const manifest = await unpack({ file, secret, onProgress: progressLine('reading', options.output) });
  const { createdAt, clusters, skipped } = manifest;
  await print(options.output, { file, ...manifest }, () =>
    [
      `${file} is whole: made ${createdAt}, the control plane and ${clusters.length} clusters`,
      ...clusters.map((name) => `  ${name}`),
      ...skipped.map(({ cluster, why }) => `  not in it: ${cluster} (${why})`),
      '',
    ].join('\n'),
  );
}

// Where a student's shell runs: a newer Debian, because the ttyd it ships needs that C library, with kubectl added.
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, scratch } from '../cache.ts';
import { program } from '../environment.ts';
import type { Recipe } from '../sources/image.ts';
import { layerOf, writeArchive } from './archive.ts';

export const workspaceImage: Recipe = async ({ part, output }) => {
  const work = scratch('workspace');
  const root = join(work, 'root');
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  copyFileSync(program('kubernetes', 'kubectl'), join(root, 'usr/local/bin/kubectl'));
  chmodSync(join(root, 'usr/local/bin/kubectl'), 0o755);
  mkdirSync(join(root, 'etc/profile.d'), { recursive: true });
  writeFileSync(
    join(root, 'etc/profile.d/kubectl.sh'),
    'alias k=kubectl\nsource <(kubectl completion bash) 2>/dev/null\n',
  );
  await layerOf(root, join(work, 'layer.tar'));
  const ids = await writeArchive(join(output, 'image.tar'), [
    {
      tags: [`rookery-bed/workspace:${part.version}`],
      layers: [join(folderOf('workspace-rootfs'), 'layer.tar'), join(work, 'layer.tar')],
      config: {
        Cmd: ['ttyd', '--port', '7681', '--writable', 'bash', '--login'],
        Env: [
          'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          'LANG=C.UTF-8',
          'TERM=xterm-256color',
        ],
        WorkingDir: '/root',
        ExposedPorts: { '7681/tcp': {} },
      },
    },
  ]);
  rmSync(work, { recursive: true, force: true });
  return ids;
};

// A Debian root file system, made from packages. It is kept twice: unpacked, because recipes pick single files and
// their libraries out of it, and as the tar that becomes the first layer of images.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tarFolder } from '../images/archive.ts';
import { run } from '../process.ts';
import { archive } from './apt.ts';
import type { BuildContext } from './context.ts';

export async function buildRootfs(context: BuildContext): Promise<void> {
  const { part, output, log, signal } = context;
  if (part.source.from !== 'rootfs') throw new Error(`${part.name} is not a root file system`);
  const { suite, packages } = part.source;
  const root = join(output, 'rootfs');
  mkdirSync(root);
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  // Scripts exist for every suite known when debootstrap was packaged; newer suites are made the same way as sid.
  const script = suite === 'bookworm' ? [] : ['/usr/share/debootstrap/scripts/sid'];
  const options = ['--variant=minbase', `--keyring=${keyring}`, `--include=${packages.join(',')}`];
  // In a mount namespace of its own: debootstrap mounts /proc below the new root, and a killed one would leave it there.
  const debootstrap = [
    '--mount',
    '--propagation',
    'private',
    'debootstrap',
    ...options,
    suite,
    root,
    await archive(),
    ...script,
  ];
  await run('unshare', debootstrap, { log, signal, timeoutMs: 900_000, nice: 5 });
  for (const waste of [
    'var/cache/apt',
    'var/lib/apt/lists',
    'usr/share/doc',
    'usr/share/man',
    'usr/share/locale',
    'usr/share/info',
  ]) {
    rmSync(join(root, waste), { recursive: true, force: true });
  }
  mkdirSync(join(root, 'var/lib/apt/lists/partial'), { recursive: true });
  mkdirSync(join(root, 'var/cache/apt/archives/partial'), { recursive: true });
  // Every machine must make its own.
  rmSync(join(root, 'etc/machine-id'), { force: true });
  await run('sh', ['-c', 'rm -f etc/ssh/ssh_host_* etc/apt/sources.list'], { cwd: root });
  await tarFolder(root, join(output, 'layer.tar'), log);
  const versions = await run('dpkg-query', [
    '--admindir',
    join(root, 'var/lib/dpkg'),
    '-W',
    '-f',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is dpkg's own format
    '${Package}=${Version}\n',
  ]);
  for (const line of versions.trim().split('\n')) {
    const [name, version] = line.split('=');
    if (name && packages.includes(name)) context.resolved[name] = version ?? '';
  }
}

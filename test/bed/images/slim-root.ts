// Small root file systems: a few files of the node's Debian with exactly the libraries they load, and busybox.
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folderOf } from '../cache.ts';
import { run } from '../process.ts';

/** An empty root with the merged-/usr links, so that /bin and /usr/bin are one. */
export function emptyRoot(root: string): void {
  for (const folder of [
    'usr/bin',
    'usr/sbin',
    'usr/lib',
    'usr/lib64',
    'etc',
    'tmp',
    'run',
    'var',
    'root',
    'proc',
    'sys',
    'dev',
  ])
    mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
  chmodSync(join(root, 'tmp'), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
}

/** Copies files out of the node's system with every library they load: a missing one makes ClusterIPs fail silently. */
export async function addWithLibraries(root: string, files: readonly string[]): Promise<void> {
  const system = join(folderOf('node-rootfs'), 'rootfs');
  const needed = new Set<string>();
  for (const file of files) {
    const listed = await run('chroot', [system, 'ldd', file]);
    for (const match of listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)) needed.add(match[1] as string);
  }
  for (const file of [...files, ...needed]) {
    const real = realpathSync(join(system, file));
    const target = join(root, file.replace(/^\/(bin|sbin|lib|lib64)\//, '/usr/$1/'));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(real, target);
    chmodSync(target, 0o755);
  }
}

/** Not the static build: a static C library looks names up by loading shared ones, which a small root does not have. */
export async function addBusybox(root: string): Promise<void> {
  await addWithLibraries(root, ['/usr/bin/busybox']);
  const applets = await run('chroot', [join(folderOf('node-rootfs'), 'rootfs'), '/usr/bin/busybox', '--list']);
  for (const applet of applets.split('\n').filter(Boolean)) {
    if (
      applet !== 'busybox' &&
      !existsSync(join(root, 'usr/sbin', applet)) &&
      !existsSync(join(root, 'usr/bin', applet))
    )
      symlinkSync('busybox', join(root, 'usr/bin', applet));
  }
}

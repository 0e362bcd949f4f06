// Machines for k3s that are containers of the bed's k3s image: a Debian with sshd and everything k3s calls, started with systemd or
// without. Not the node image: that one has a containerd and a kubelet of its own, and lacks flannel's plugin.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bedSource } from '../../bed/paths.ts';
import { run, tryRun, waitFor } from '../../bed/process.ts';
import { k3sVersion } from '../../bed/versions.ts';
import type { Engine } from './engine.ts';

export interface K3sMachine {
  readonly name: string;
  readonly address: string;
  /** Runs a shell command in it as root; fails with its last output. */
  sh(command: string): Promise<string>;
}

/** What makes a container look like a machine; then the rest of the arguments becomes its first process. */
const ENTRY = `mount --make-rshared /
ssh-keygen -A >/dev/null
mkdir -p /run/sshd
[ -e /dev/kmsg ] || ln -s /dev/console /dev/kmsg
for unit in systemd-networkd.service systemd-networkd-wait-online.service getty.target console-getty.service haproxy.service \\
  systemd-logind.service; do ln -sf /dev/null /etc/systemd/system/$unit; done
exec "$@"`;

/** Where the images of k3s's system pods are in the image. */
export const imagesPath = '/var/lib/rancher/k3s/agent/images/system.tar';
/** On a volume: overlayfs does not carry another overlayfs. */
export const dataDir = '/var/lib/k3s-data/k3s';

/** What k3s needs in a container on this machine; docs/development/real-bed.md says why. */
export const containerSpec = {
  dataDir,
  disable: ['traefik' as const, 'servicelb' as const, 'metrics-server' as const],
  containerdTemplate: readFileSync(
    join(bedSource, 'images/k3s/root/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.tmpl'),
    'utf8',
  ),
  k3sArgs: [
    '--kubelet-arg=fail-cgroupv1=false',
    '--kubelet-arg=eviction-hard=nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%',
    '--kubelet-arg=image-gc-high-threshold=100',
  ],
};

export async function k3sMachine(
  docker: Engine,
  name: string,
  options: { init: 'systemd' | 'none'; publicKey?: string; mounts?: string[] },
): Promise<K3sMachine> {
  const isSystemd = options.init === 'systemd';
  await docker.docker(
    'run',
    '-d',
    ...(isSystemd ? ['--env', 'container=docker', '--stop-signal', 'SIGRTMIN+3'] : ['--init']),
    '--name',
    name,
    '--hostname',
    name,
    '--privileged',
    '--cgroupns=private',
    '--tmpfs',
    '/tmp:exec',
    '--tmpfs',
    '/run',
    '--volume',
    '/var/lib/k3s-data',
    ...(options.mounts ?? []).flatMap((mount) => ['--volume', mount]),
    '--entrypoint',
    '/bin/bash',
    `rancher/k3s:${k3sVersion.replace('+', '-')}`,
    '-c',
    ENTRY,
    'entry',
    ...(isSystemd ? ['/sbin/init'] : ['/usr/sbin/sshd', '-D', '-e']),
  );
  const sh = (command: string): Promise<string> => docker.docker('exec', name, '/bin/sh', '-c', command);
  if (options.publicKey) {
    await sh('install -d -m 0700 /root/.ssh');
    await sh(`echo '${options.publicKey.trim()}' >/root/.ssh/authorized_keys`);
  }
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
  const address = (await docker.docker('inspect', '--format', format, name)).trim();
  const knock = `exec 3<>/dev/tcp/${address}/22`;
  await waitFor(`sshd of ${name}`, 60_000, async () => (await tryRun('bash', ['-c', knock])).code === 0, 200);
  if (isSystemd) await waitFor('systemd', 60_000, () => sh('systemctl is-system-running --wait || :'), 500);
  return { name, address, sh };
}

/** A key pair of its own; the answer holds both texts. */
export async function sshKey(folder: string): Promise<{ privateKey: string; publicKey: string }> {
  const file = join(folder, 'id_ed25519');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'rookery-e2e', '-f', file]);
  return { privateKey: readFileSync(file, 'utf8'), publicKey: readFileSync(`${file}.pub`, 'utf8') };
}

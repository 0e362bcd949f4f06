// A machine that is a container: Debian with systemd, sshd, containerd, kubelet and kubeadm, and every image a cluster
// starts with already in containerd's store. kind takes it as its node image, the kubeadm suites as their hosts.
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderOf, scratch } from '../cache.ts';
import { program } from '../environment.ts';
import { killGroup, run, waitFor } from '../process.ts';
import type { Recipe } from '../sources/image.ts';
import { type Image, layerOf, writeArchive } from './archive.ts';
import { networkImages } from './network-images.ts';
import { busyboxImage, corednsImage, localPathImage, pauseImage, programImage } from './small-images.ts';

const here = dirname(fileURLToPath(import.meta.url));

/** Units that make no sense in a container, or that a suite starts itself. */
const masked = [
  'haproxy.service',
  'getty.target',
  'console-getty.service',
  'systemd-logind.service',
  'e2scrub_reap.service',
  'systemd-remount-fs.service',
  'dev-hugepages.mount',
  'sys-kernel-debug.mount',
  'sys-kernel-tracing.mount',
  'systemd-modules-load.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'e2scrub_all.timer',
  'fstrim.timer',
  'dpkg-db-backup.timer',
];

/** Asks kubeadm itself what it will start: the tags of etcd, CoreDNS and pause depend on its patch version. */
async function clusterImages(kubernetes: string, version: string): Promise<{ images: Image[]; pause: string }> {
  const listed = await run(program(kubernetes, 'kubeadm'), [
    'config',
    'images',
    'list',
    '--kubernetes-version',
    version,
  ]);
  const tags = listed.trim().split('\n');
  const tagOf = (name: string): string => {
    const tag = tags.find((candidate) => basename(candidate).startsWith(`${name}:`));
    if (!tag) throw new Error(`kubeadm lists no image for ${name}: ${tags.join(', ')}`);
    return tag;
  };
  const images: Image[] = [];
  for (const name of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])
    images.push(await programImage([tagOf(name)], program(kubernetes, name)));
  images.push(await programImage([tagOf('etcd')], program('etcd', 'etcd')));
  images.push(await corednsImage([tagOf('coredns')]), await pauseImage([tagOf('pause')]));
  images.push(
    await localPathImage(['rookery-bed/local-path-provisioner:v0.0.33']),
    await busyboxImage(['rookery-bed/busybox:1']),
  );
  images.push(...(await networkImages(kubernetes, tagOf('kube-proxy'), join(here, 'node/bed-net.sh'))));
  return { images, pause: tagOf('pause') };
}

/** Fills the containerd store that the image will carry, with the same containerd, before the image exists. */
async function preload(store: string, archive: string, log: string): Promise<void> {
  const work = scratch('containerd');
  const socket = join(work, 'containerd.sock');
  writeFileSync(
    join(work, 'config.toml'),
    `version = 2\nroot = "${store}"\nstate = "${join(work, 'state')}"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\n  address = "${socket}"\n[ttrpc]\n  address = "${socket}.ttrpc"\n`,
  );
  const daemon = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', '--', program('docker', 'containerd'), '--config', join(work, 'config.toml')],
    {
      detached: true,
      stdio: 'ignore',
    },
  );
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  try {
    const ctr = (...args: string[]): Promise<string> =>
      run(program('docker', 'ctr'), ['--address', socket, '-n', 'k8s.io', ...args], { log, timeoutMs: 300_000 });
    await waitFor('containerd', 20_000, async () => (await ctr('version')) !== '');
    // Not unpacked: each node unpacks what it runs, into its own volume.
    await ctr('images', 'import', '--all-platforms', '--no-unpack', '--digests', archive);
  } finally {
    killGroup(daemon.pid, 'SIGTERM');
    await ended;
    rmSync(work, { recursive: true, force: true });
  }
}

function install(file: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(file, target);
  chmodSync(target, 0o755);
}

export const nodeImage =
  (kubernetes: 'kubernetes' | 'kubernetes-previous'): Recipe =>
  async ({ part, output, log }) => {
    const version = part.version;
    const work = scratch('node');
    const root = join(work, 'root');
    cpSync(join(here, 'node/root'), root, { recursive: true });
    const { images, pause } = await clusterImages(kubernetes, version);
    const containerd = join(root, 'etc/containerd/config.toml');
    writeFileSync(containerd, readFileSync(containerd, 'utf8').replace('@PAUSE@', pause));
    writeFileSync(join(root, 'kind/version'), version);
    for (const name of ['kubelet', 'kubeadm']) install(program(kubernetes, name), join(root, 'usr/bin', name));
    install(program('kubernetes', 'kubectl'), join(root, 'usr/bin/kubectl'));
    for (const name of ['containerd', 'ctr', 'containerd-shim-runc-v2'])
      install(program('docker', name), join(root, 'usr/local/bin', name));
    install(program('crictl', 'crictl'), join(root, 'usr/local/bin/crictl'));
    mkdirSync(join(root, 'opt/cni'), { recursive: true });
    await run('cp', ['-a', join(folderOf('node-rootfs'), 'rootfs/usr/lib/cni'), join(root, 'opt/cni/bin')]);
    const units = join(root, 'etc/systemd/system');
    mkdirSync(join(units, 'multi-user.target.wants'), { recursive: true });
    for (const unit of ['containerd.service', 'kubelet.service'])
      symlinkSync(`/etc/systemd/system/${unit}`, join(units, 'multi-user.target.wants', unit));
    for (const unit of masked) symlinkSync('/dev/null', join(units, unit));

    const archive = join(work, 'cluster-images.tar');
    await writeArchive(archive, images);
    const store = join(root, 'var/lib/containerd');
    mkdirSync(store, { recursive: true });
    await preload(store, archive, log);

    await layerOf(root, join(work, 'layer.tar'));
    const ids = await writeArchive(join(output, 'image.tar'), [
      {
        tags: [`kindest/node:${version}`, `rookery-bed/node:${version}`],
        layers: [join(folderOf('node-rootfs'), 'layer.tar'), join(work, 'layer.tar')],
        config: {
          Entrypoint: ['/usr/local/bin/entrypoint', '/sbin/init'],
          Env: ['container=docker', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
          StopSignal: 'SIGRTMIN+3',
        },
      },
    ]);
    rmSync(work, { recursive: true, force: true });
    return ids;
  };

// The images that run as pods: a static program each, or a few files of the node's root file system with exactly the
// libraries they load.
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { folderOf, scratch } from '../cache.ts';
import { program } from '../environment.ts';
import { run } from '../process.ts';
import { type Image, layerOf } from './archive.ts';

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Nothing but one static program. */
export async function programImage(tags: readonly string[], file: string, entrypoint?: readonly string[]): Promise<Image> {
  const folder = scratch('image');
  const name = basename(file);
  mkdirSync(join(folder, 'root/usr/local/bin'), { recursive: true });
  mkdirSync(join(folder, 'root/tmp'));
  copyFileSync(file, join(folder, 'root/usr/local/bin', name));
  chmodSync(join(folder, 'root/usr/local/bin', name), 0o755);
  await layerOf(join(folder, 'root'), join(folder, 'layer.tar'));
  return { tags, layers: [join(folder, 'layer.tar')], config: { Entrypoint: entrypoint ?? [`/usr/local/bin/${name}`], Env: [path] } };
}

/** An empty root with the merged-/usr links, so that /bin and /usr/bin are one. */
function emptyRoot(root: string): void {
  for (const folder of ['usr/bin', 'usr/sbin', 'usr/lib', 'usr/lib64', 'etc', 'tmp', 'run', 'var', 'root', 'proc', 'sys', 'dev']) mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
  chmodSync(join(root, 'tmp'), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
}

async function addBusybox(root: string): Promise<void> {
  const busybox = join(folderOf('node-rootfs'), 'rootfs/usr/bin/busybox');
  copyFileSync(busybox, join(root, 'usr/bin/busybox'));
  chmodSync(join(root, 'usr/bin/busybox'), 0o755);
  for (const applet of (await run(busybox, ['--list'])).split('\n').filter(Boolean)) {
    if (applet !== 'busybox' && !existsSync(join(root, 'usr/bin', applet))) symlinkSync('busybox', join(root, 'usr/bin', applet));
  }
}

/** Copies files out of the node's system with every library they load: a missing one makes ClusterIPs fail silently. */
async function addWithLibraries(root: string, files: readonly string[]): Promise<void> {
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

/** Busybox with its applets: the helper of volumes and every test's pod. */
export async function busyboxImage(tags: readonly string[]): Promise<Image> {
  const folder = scratch('image');
  const root = join(folder, 'root');
  emptyRoot(root);
  await addBusybox(root);
  await layerOf(root, join(folder, 'layer.tar'));
  return { tags, layers: [join(folder, 'layer.tar')], config: { Cmd: ['/bin/sh'], Env: [path] } };
}

/** iptables with all its extensions, ip, conntrack, ipset, busybox: the base of what programs a node's network. */
async function networkLayer(): Promise<string> {
  const folder = scratch('image');
  const root = join(folder, 'root');
  emptyRoot(root);
  const system = join(folderOf('node-rootfs'), 'rootfs');
  const plugins = '/usr/lib/x86_64-linux-gnu/xtables';
  const extensions = (await run('ls', [join(system, plugins)])).split('\n').filter((name) => name.endsWith('.so')).map((name) => `${plugins}/${name}`);
  await addWithLibraries(root, ['/usr/sbin/xtables-nft-multi', '/usr/sbin/conntrack', '/usr/sbin/ipset', '/usr/bin/ip', '/usr/sbin/nft', ...extensions]);
  for (const family of ['iptables', 'ip6tables']) {
    for (const suffix of ['', '-save', '-restore', '-nft', '-nft-save', '-nft-restore']) symlinkSync('xtables-nft-multi', join(root, 'usr/sbin', `${family}${suffix}`));
  }
  // The kubelet and kube-proxy look services and protocols up by name.
  for (const file of ['etc/protocols', 'etc/services']) if (existsSync(join(system, file))) cpSync(join(system, file), join(root, file));
  await addBusybox(root);
  await layerOf(root, join(folder, 'layer.tar'));
  return join(folder, 'layer.tar');
}

/** The images that change iptables, sharing one base layer: kube-proxy under its published name, and the pod network. */
export async function networkImages(kubernetes: string, proxyTag: string, networkScript: string): Promise<Image[]> {
  const base = await networkLayer();
  const proxy = await programImage([proxyTag], program(kubernetes, 'kube-proxy'));
  const kubectl = await programImage(['rookery-bed/net:1'], program(kubernetes, 'kubectl'));
  const folder = scratch('image');
  mkdirSync(join(folder, 'root'));
  copyFileSync(networkScript, join(folder, 'root/bed-net'));
  await layerOf(join(folder, 'root'), join(folder, 'layer.tar'));
  return [
    { ...proxy, layers: [base, ...proxy.layers] },
    { ...kubectl, layers: [base, ...kubectl.layers, join(folder, 'layer.tar')] },
  ];
}

export const localPathImage = (tags: readonly string[]): Promise<Image> => programImage(tags, program('local-path-provisioner', 'local-path-provisioner'));
export const corednsImage = (tags: readonly string[]): Promise<Image> => programImage(tags, program('coredns', 'coredns'));
export const pauseImage = (tags: readonly string[]): Promise<Image> => programImage(tags, program('small-programs', 'pause'));

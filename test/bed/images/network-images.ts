// What programs a node's network: kube-proxy under its published name, and the bed's own pod network.
import { copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, scratch } from '../cache.ts';
import { program } from '../environment.ts';
import { run } from '../process.ts';
import { type Image, layerOf } from './archive.ts';
import { addBusybox, addWithLibraries, emptyRoot } from './slim-root.ts';
import { programImage } from './small-images.ts';

/** iptables with all its extensions, ip, conntrack, ipset, busybox: the base of what programs a node's network. */
async function networkLayer(): Promise<string> {
  const folder = scratch('image');
  const root = join(folder, 'root');
  emptyRoot(root);
  const system = join(folderOf('node-rootfs'), 'rootfs');
  const plugins = '/usr/lib/x86_64-linux-gnu/xtables';
  const extensions = (await run('ls', [join(system, plugins)]))
    .split('\n')
    .filter((name) => name.endsWith('.so'))
    .map((name) => `${plugins}/${name}`);
  await addWithLibraries(root, [
    '/usr/sbin/xtables-nft-multi',
    '/usr/sbin/conntrack',
    '/usr/sbin/ipset',
    '/usr/bin/ip',
    '/usr/sbin/nft',
    ...extensions,
  ]);
  for (const family of ['iptables', 'ip6tables']) {
    for (const suffix of ['', '-save', '-restore', '-nft', '-nft-save', '-nft-restore'])
      symlinkSync('xtables-nft-multi', join(root, 'usr/sbin', `${family}${suffix}`));
  }
  // The kubelet and kube-proxy look services and protocols up by name.
  for (const file of ['etc/protocols', 'etc/services'])
    if (existsSync(join(system, file))) cpSync(join(system, file), join(root, file));
  await addBusybox(root);
  await layerOf(root, join(folder, 'layer.tar'));
  return join(folder, 'layer.tar');
}

/** Both share one base layer. */
export async function networkImages(kubernetes: string, proxyTag: string, networkScript: string): Promise<Image[]> {
  const base = await networkLayer();
  const proxy = await programImage([proxyTag], program(kubernetes, 'kube-proxy'));
  const kubectl = await programImage(['rookery-bed/net:1'], program('kubernetes', 'kubectl'));
  const folder = scratch('image');
  mkdirSync(join(folder, 'root'));
  copyFileSync(networkScript, join(folder, 'root/bed-net'));
  await layerOf(join(folder, 'root'), join(folder, 'layer.tar'));
  return [
    { ...proxy, layers: [base, ...proxy.layers] },
    { ...kubectl, layers: [base, ...kubectl.layers, join(folder, 'layer.tar')] },
  ];
}

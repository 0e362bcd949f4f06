/**
 * k3s on a machine over SSH, one fresh machine for each cluster. By hand: as its documentation says for machines without a network (program,
 * images and a service of systemd put there with scp and ssh). Both sides copy the same program and the same images, and start it with the same flags.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { kubeconfigFor } from '../../src/provisioners/k3s/kubeconfig.ts';
import { k3sWay } from '../../src/provisioners/k3s/way.ts';
import { clusterManifests } from '../../src/provisioners/request-cluster.ts';
import { program } from '../../test/bed/environment.ts';
import { run } from '../../test/bed/process.ts';
import { k3sVersion } from '../../test/bed/versions.ts';
import {
  containerSpec,
  dataDir,
  imagesPath,
  type K3sMachine,
  k3sMachine,
  sshKey,
} from '../../test/e2e/support/k3s-machine.ts';
import { type Bench, type Contender, containersMiB } from './contender.ts';

const KEY_SECRET = 'bench-key';
/** On both sides: the bed's k3s has no network plugins of its own, the machine has. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/cni/bin:/usr/lib/cni';

/** What k3s's installer writes, with the flags of this machine. */
const serviceOf = (flags: readonly string[]): string => `[Unit]
Description=Lightweight Kubernetes
Wants=network-online.target
After=network-online.target

[Install]
WantedBy=multi-user.target

[Service]
Type=notify
Environment=PATH=${PATH}
KillMode=process
Delegate=yes
LimitNOFILE=1048576
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s
ExecStartPre=-/sbin/modprobe br_netfilter
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/k3s server ${flags.map((flag) => `'${flag}'`).join(' ')}
`;

export function k3s(bench: Bench): Contender {
  const { docker, folder } = bench;
  const binary = program('k3s', 'k3s');
  const archive = join(folder, 'system.tar');
  const keyFile = join(folder, 'id_ed25519');
  const machines = new Map<string, K3sMachine>();
  const machineOf = (name: string): K3sMachine => machines.get(name) as K3sMachine;
  let key: Awaited<ReturnType<typeof sshKey>>;
  const options = [
    '-i',
    keyFile,
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    `UserKnownHostsFile=${join(folder, 'known')}`,
  ];
  const quiet = [...options, '-o', 'LogLevel=ERROR'];
  const ssh = (name: string, command: string, input?: string) =>
    run('ssh', [...quiet, `root@${machineOf(name).address}`, command], { input, timeoutMs: 300_000 });
  const copy = (name: string, file: string, path: string) =>
    run('scp', ['-q', ...quiet, file, `root@${machineOf(name).address}:${path}`], { timeoutMs: 300_000 });
  return {
    name: 'k3s',
    images: ['k3s-image'],
    env: { PATH: `${dirname(binary)}:${docker.env.PATH}` },
    expects: { nodes: 1, hasNetwork: true, place: 'this machine' },
    async prepare(product) {
      key = await sshKey(folder);
      await takeOut(bench, imagesPath, archive);
      const metadata = { name: KEY_SECRET, namespace: 'default' };
      const stringData = { 'ssh-privatekey': key.privateKey };
      await product.kubectl.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/ssh-auth',
        metadata,
        stringData,
      });
    },
    async before(name) {
      machines.set(name, await k3sMachine(docker, name, { init: 'systemd', publicKey: key.publicKey }));
    },
    after: (name) => docker.clear(name),
    async ask({ kubectl }, name) {
      const host = { ssh: { address: machineOf(name).address, keySecretRef: { name: KEY_SECRET } } };
      const { cluster, provider } = clusterManifests(k3sWay, { namespace: 'default', name });
      await kubectl.apply(cluster, { ...provider, spec: { host, airgapImages: [archive], ...containerSpec } });
      await kubectl.run('wait', '--for=condition=Available', `clusters.cluster.x-k8s.io/${name}`, '--timeout=100s');
    },
    async make(name) {
      const { address } = machineOf(name);
      const template = join(folder, 'config-v3.toml.tmpl');
      const images = `${dataDir}/agent/images`;
      const containerd = `${dataDir}/agent/etc/containerd`;
      writeFileSync(template, containerSpec.containerdTemplate);
      await ssh(name, `mkdir -p ${images} ${containerd}`);
      await copy(name, binary, '/usr/local/bin/k3s');
      await copy(name, archive, images);
      await copy(name, template, containerd);
      const flags = [
        `--data-dir=${dataDir}`,
        `--tls-san=${address}`,
        ...containerSpec.disable.map((part) => `--disable=${part}`),
        ...containerSpec.k3sArgs,
      ];
      const unit = '/etc/systemd/system/k3s.service';
      await ssh(name, `cat >${unit} && systemctl daemon-reload && systemctl enable --now k3s`, serviceOf(flags));
      return await kubeconfigFor(await ssh(name, 'cat /etc/rancher/k3s/k3s.yaml'), name, `https://${address}:6443`);
    },
    // With the machine.
    remove: async () => {},
    memoryMiB: (name) => containersMiB(bench, name),
    close: async () => {},
  };
}

/** A file of the k3s image: both sides bring it to the machine from here. */
async function takeOut({ docker, folder }: Bench, path: string, file: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const container = (await docker.docker('create', `rancher/k3s:${k3sVersion.replace('+', '-')}`)).trim();
  try {
    await docker.docker('cp', '-L', `${container}:${path}`, file);
  } finally {
    await docker.docker('rm', '-f', '-v', container);
  }
  if (readFileSync(file).length === 0) throw new Error(`${path} of the image is empty`);
}

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { scratch } from '../bed/cache.ts';
import { type Machine, type MachineNetwork, machineNetwork } from '../bed/services/machine.ts';
import { kubernetesVersion } from '../bed/versions.ts';
import { dnsWorks, networkWorks, podRuns, volumeKeeps } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { Kubectl } from './support/kubectl.ts';

const network = 'bed-kubeadm';
const ignored = [
  'SystemVerification',
  'Swap',
  'NumCPU',
  'Mem',
  'FileContent--proc-sys-net-bridge-bridge-nf-call-iptables',
];

/** One file for init: the cluster, this node, and what kube-proxy may not try on this kind of machine. */
const initConfiguration = (): string =>
  [
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'InitConfiguration',
      nodeRegistration: { ignorePreflightErrors: ignored, imagePullPolicy: 'IfNotPresent' },
    },
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ClusterConfiguration',
      kubernetesVersion,
      networking: { podSubnet: '10.244.0.0/16' },
      apiServer: { certSANs: ['127.0.0.1', 'localhost'] },
    },
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      cgroupDriver: 'systemd',
      failCgroupV1: false,
    },
    {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      conntrack: { maxPerCore: 0, min: 0 },
    },
  ]
    .map((document) => stringify(document))
    .join('---\n');

describe('kubeadm on two machines, over ssh', () => {
  const folder = scratch('kubeadm');
  const kubectl = new Kubectl(join(folder, 'kubeconfig'));
  let docker: Engine;
  let machines: MachineNetwork;
  let first: Machine;
  let second: Machine;
  beforeAll(async () => {
    docker = await engine('node-image');
    await docker.clear(network);
    machines = await machineNetwork(network, `rookery-bed/node:${kubernetesVersion}`, docker.variables);
    [first, second] = await Promise.all([machines.add('one', { publish: [6443] }), machines.add('two')]);
  });
  afterAll(async () => {
    await machines?.remove();
    await docker?.release();
    rmSync(folder, { recursive: true, force: true });
  });

  test('init makes a control plane', async () => {
    await first.ssh('cat > /root/init.yaml && kubeadm init --config /root/init.yaml --skip-token-print', {
      input: initConfiguration(),
    });
    const admin = await first.ssh('cat /etc/kubernetes/admin.conf');
    writeFileSync(
      kubectl.kubeconfig,
      admin.replace(/server: .*/, `server: https://127.0.0.1:${await first.published(6443)}`),
      { mode: 0o600 },
    );
    await first.ssh(
      'kubectl --kubeconfig /etc/kubernetes/admin.conf apply -f /kind/manifests/default-cni.yaml -f /kind/manifests/default-storage.yaml',
    );
  });

  test('a worker joins', async () => {
    const join = (await first.ssh('kubeadm token create --print-join-command')).trim();
    await second.ssh(`${join} --ignore-preflight-errors=${ignored.join(',')}`);
    await kubectl.untilReady(2);
    expect(
      (await kubectl.nodes()).map((node) => `${node.metadata.name} ${node.status.nodeInfo.kubeletVersion}`).sort(),
    ).toEqual([`one ${kubernetesVersion}`, `two ${kubernetesVersion}`]);
  });

  test('a pod runs', () => podRuns(kubectl));
  test('pods reach each other across nodes, by address and by Service', () => networkWorks(kubectl, ['one', 'two']));
  test('names are resolved', () => dnsWorks(kubectl));
  test('a volume outlives its pod', () => volumeKeeps(kubectl));

  test('removing the machines leaves nothing', async () => {
    await machines.remove();
    expect(await docker.found(network)).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { addressesOf, expectationOf, filesFor, fingerprint, type K3sSpec, k3sConfig } from './config.ts';

const UNIT = '/etc/systemd/system/rookery-k3s.service';
const keySecretRef = { name: 'key', key: 'ssh-privatekey' };
const local: K3sSpec = { host: {}, dataDir: '/data', port: 6443, supervision: 'auto' };
const far: K3sSpec = { ...local, host: { ssh: { address: '10.0.0.7', port: 22, user: 'root', keySecretRef } } };

it('a machine is reached by its address, this one by loopback and, from a container, by the gateway', () => {
  expect(addressesOf(far)).toEqual({ external: 'https://10.0.0.7:6443', internal: 'https://10.0.0.7:6443' });
  expect(addressesOf({ ...local, port: 7443 })).toEqual({
    external: 'https://127.0.0.1:7443',
    internal: 'https://host.docker.internal:7443',
  });
  const ipv6 = { ...far, host: { ssh: { address: '2001:db8::7', port: 22, user: 'root', keySecretRef } } };
  expect(addressesOf(ipv6).external).toBe('https://[2001:db8::7]:6443');
});

it('the configuration holds what is asked for, flags that are given twice as a list', () => {
  const spec: K3sSpec = {
    ...far,
    disable: ['traefik'],
    tlsSans: ['api.example.org', '10.0.0.7'],
    clusterCIDR: '10.50.0.0/16',
    k3sArgs: [
      '--kubelet-arg=v=2',
      '--kubelet-arg=max-pods=5',
      '--disable-helm-controller',
      '--flannel-backend=host-gw',
    ],
  };
  expect(JSON.parse(k3sConfig(spec))).toEqual({
    'data-dir': '/data',
    'token-file': '/var/lib/rookery/k3s/token',
    'https-listen-port': 6443,
    'write-kubeconfig': '/var/lib/rookery/k3s/kubeconfig',
    'write-kubeconfig-mode': '0600',
    'tls-san': ['10.0.0.7', 'host.docker.internal', 'api.example.org'],
    disable: ['traefik'],
    'cluster-cidr': '10.50.0.0/16',
    'kubelet-arg': ['v=2', 'max-pods=5'],
    'disable-helm-controller': true,
    'flannel-backend': 'host-gw',
  });
});

it('k3s is started anew for what it reads itself, not for what is beside it', () => {
  const print = (spec: K3sSpec) => fingerprint(filesFor(spec, 'systemd', UNIT));
  expect(print({ ...far, airgapImages: ['/x.tar'], kubernetesVersion: '1.36' })).toBe(print(far));
  expect(print({ ...far, disable: ['coredns'] })).not.toBe(print(far));
  expect(print({ ...far, containerdTemplate: 'version = 3' })).not.toBe(print(far));
});

it("containerd's template goes where its version is read", () => {
  const path = (containerdTemplate: string) => filesFor({ ...far, containerdTemplate }, 'process', UNIT)[1]?.path;
  expect(path('version = 3\n')).toBe('/data/agent/etc/containerd/config-v3.toml.tmpl');
  expect(path('# ours\nversion = 2\n')).toBe('/data/agent/etc/containerd/config.toml.tmpl');
});

it('what is switched off is not waited for', () => {
  expect(expectationOf(local)).toEqual({ nodes: 1, hasNetwork: true, hasDns: true });
  expect(expectationOf({ ...local, disable: ['coredns'] })).toMatchObject({ hasNetwork: true, hasDns: false });
  expect(expectationOf({ ...local, k3sArgs: ['--flannel-backend=none'] })).toMatchObject({ hasNetwork: false });
});

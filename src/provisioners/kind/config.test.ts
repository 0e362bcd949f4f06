import { expect, it } from 'vitest';
import { fingerprint, internalServer, type KindSpec, kindConfig, shapeOf } from './config.ts';

const mark = { hostPath: '/home/x/owner', containerPath: '/etc/rookery/owner/u-1' };
const config = (spec: Partial<KindSpec>) =>
  JSON.parse(kindConfig({ clusterName: 'dev', ...spec }, { name: 'dev', image: 'kindest/node:v1.35.8', mark }));

it('is one control plane by default, with an image and our mark', () => {
  expect(config({})).toEqual({
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    name: 'dev',
    networking: {},
    nodes: [{ role: 'control-plane', image: 'kindest/node:v1.35.8', extraMounts: [{ ...mark, readOnly: true }] }],
  });
});

it('takes numbers of nodes', () => {
  const spec = { clusterName: 'dev', controlPlaneNodes: 3, workerNodes: 2 };
  expect(config(spec).nodes.map((node: { role: string }) => node.role)).toEqual([
    'control-plane',
    'control-plane',
    'control-plane',
    'worker',
    'worker',
  ]);
  expect(shapeOf(spec)).toEqual({ nodes: 5, controlPlanes: 3, containers: 6, hasNetwork: true });
});

it('takes nodes one by one, with ports, mounts, patches and images of their own', () => {
  const { nodes } = config({
    nodes: [
      {
        role: 'control-plane',
        labels: { zone: 'a' },
        extraPortMappings: [{ containerPort: 30080, hostPort: 8080, listenAddress: '127.0.0.1' }],
        extraMounts: [{ hostPath: '/srv', containerPath: '/srv' }],
        kubeadmConfigPatches: ['kind: InitConfiguration'],
      },
      { role: 'worker', image: 'kindest/node:v1.34.10' },
    ],
  });
  expect(nodes[0]).toMatchObject({
    labels: { zone: 'a' },
    extraPortMappings: [{ containerPort: 30080, hostPort: 8080, listenAddress: '127.0.0.1' }],
    extraMounts: [{ hostPath: '/srv' }, { containerPath: '/etc/rookery/owner/u-1' }],
    kubeadmConfigPatches: ['kind: InitConfiguration'],
  });
  expect(nodes[1].image).toBe('kindest/node:v1.34.10');
});

it('passes networking, gates and patches on, and keeps a known address', () => {
  const made = config({
    controlPlaneEndpoint: { host: '127.0.0.1', port: 40123 },
    networking: { podSubnet: '10.1.0.0/16', disableDefaultCNI: true },
    featureGates: { Some: true },
    runtimeConfig: { 'api/alpha': 'false' },
    containerdConfigPatches: ['x'],
  });
  expect(made.networking).toEqual({ apiServerPort: 40123, podSubnet: '10.1.0.0/16', disableDefaultCNI: true });
  expect(made).toMatchObject({ featureGates: { Some: true }, runtimeConfig: { 'api/alpha': 'false' } });
});

it('notices changes that need a new cluster, and only those', () => {
  const spec: KindSpec = { clusterName: 'dev', workerNodes: 1, kubernetesVersion: '1.35' };
  const same: KindSpec = {
    kubernetesVersion: '1.35',
    clusterName: 'dev',
    nodes: [{ role: 'control-plane' }, { role: 'worker' }],
    controlPlaneEndpoint: { host: 'h', port: 1 },
  };
  expect(fingerprint(same)).toBe(fingerprint(spec));
  expect(fingerprint({ ...spec, workerNodes: 2 })).not.toBe(fingerprint(spec));
  expect(fingerprint({ ...spec, kubernetesVersion: '1.36' })).not.toBe(fingerprint(spec));
});

it('is reached by containers at its control plane, or at what stands before several', () => {
  expect(internalServer('dev', { clusterName: 'dev' })).toBe('https://dev-control-plane:6443');
  const several = { clusterName: 'dev', controlPlaneNodes: 3 };
  expect(internalServer('dev', several)).toBe('https://dev-external-load-balancer:6443');
});

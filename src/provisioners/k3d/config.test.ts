import { expect, it } from 'vitest';
import { containerNames, fingerprint, internalServer, type K3dSpec, k3dConfig, shapeOf } from './config.ts';

const parts = { name: 'dev', image: 'rancher/k3s:v1.35.0-k3s1', owner: 'u-1' };
const config = (spec: Partial<K3dSpec>, more = {}) =>
  JSON.parse(k3dConfig({ clusterName: 'dev', ...spec }, { ...parts, ...more }));

it('is one server without a load balancer by default, on loopback, with our mark', () => {
  expect(config({})).toEqual({
    apiVersion: 'k3d.io/v1alpha5',
    kind: 'Simple',
    metadata: { name: 'dev' },
    servers: 1,
    agents: 0,
    image: 'rancher/k3s:v1.35.0-k3s1',
    kubeAPI: { host: '127.0.0.1', hostIP: '127.0.0.1' },
    options: {
      k3d: { wait: true, timeout: '600s', disableLoadbalancer: true },
      k3s: {},
      kubeconfig: { updateDefaultKubeconfig: false, switchCurrentContext: false },
      runtime: { labels: [{ label: 'rookery.dev/owner=u-1', nodeFilters: ['all'] }] },
    },
  });
});

it('gives several servers a load balancer and addresses that stay', () => {
  const spec = { clusterName: 'dev', servers: 3, agents: 2 };
  expect(config(spec)).toMatchObject({ subnet: 'auto', options: { k3d: { disableLoadbalancer: false } } });
  expect(config({ ...spec, subnet: '172.28.0.0/16' }).subnet).toBe('172.28.0.0/16');
  expect(shapeOf(spec)).toEqual({ nodes: 5, controlPlanes: 3, containers: 6, hasNetwork: true, hasDns: true });
  expect(containerNames('dev', shapeOf(spec))).toEqual([
    'k3d-dev-tools',
    'k3d-dev-server-0',
    'k3d-dev-server-1',
    'k3d-dev-server-2',
    'k3d-dev-agent-0',
    'k3d-dev-agent-1',
    'k3d-dev-serverlb',
  ]);
  expect(internalServer('dev', spec)).toBe('https://k3d-dev-serverlb:6443');
  expect(internalServer('dev', { ...spec, loadBalancer: false })).toBe('https://k3d-dev-server-0:6443');
});

it('publishes ports by the load balancer where there is one, else by the first server', () => {
  const ports = [
    { containerPort: 80, hostPort: 8080, listenAddress: '127.0.0.1' },
    { containerPort: 53, protocol: 'UDP' as const },
  ];
  expect(config({ ports }).ports).toEqual([
    { port: '127.0.0.1:8080:80/tcp', nodeFilters: ['server:0:direct'] },
    { port: '53/udp', nodeFilters: ['server:0:direct'] },
  ]);
  expect(config({ ports, loadBalancer: true }).ports[0].nodeFilters).toEqual(['loadbalancer']);
  expect(config({ ports: [{ containerPort: 80, listenAddress: '10.0.0.1' }] }).ports[0].port).toBe('10.0.0.1::80/tcp');
});

it('keeps a known address, and never hands out one that is no address', () => {
  expect(config({ controlPlaneEndpoint: { host: '127.0.0.1', port: 40123 } }).kubeAPI.hostPort).toBe('40123');
  expect(config({ apiPort: 6550, apiAddress: '0.0.0.0' }).kubeAPI).toEqual({
    host: '127.0.0.1',
    hostIP: '0.0.0.0',
    hostPort: '6550',
  });
});

it('passes volumes, environment, arguments, memory and registries on', () => {
  const made = config(
    {
      agents: 1,
      volumes: [{ hostPath: '/srv', containerPath: '/data', readOnly: true }],
      env: [{ name: 'HTTP_PROXY', value: 'http://proxy:3128' }],
      k3sArgs: [{ arg: '--disable=traefik' }, { arg: '--node-taint=a=b:NoSchedule', nodeFilters: ['agent:0'] }],
      serverMemory: '2g',
      registries: ['k3d-registry'],
    },
    { registryConfig: 'mirrors: {}' },
  );
  const everywhere = ['server:*', 'agent:*'];
  expect(made.volumes).toEqual([{ volume: '/srv:/data:ro', nodeFilters: everywhere }]);
  expect(made.env).toEqual([{ envVar: 'HTTP_PROXY=http://proxy:3128', nodeFilters: everywhere }]);
  expect(made.options.k3s.extraArgs).toEqual([
    { arg: '--disable=traefik', nodeFilters: ['server:*'] },
    { arg: '--node-taint=a=b:NoSchedule', nodeFilters: ['agent:0'] },
  ]);
  expect(made.options.runtime.serversMemory).toBe('2g');
  expect(made.registries).toEqual({ use: ['k3d-registry'], config: 'mirrors: {}' });
});

it('writes a dollar so that k3d, which expands variables, reads a dollar', () => {
  const home = ['$', '{HOME}'].join('');
  const text = k3dConfig({ clusterName: 'dev', env: [{ name: 'PRICE', value: `$5 ${home}` }] }, parts);
  const expanded = text.replace(/\$\{(\w+)\}|\$(\w+)/g, (_all, name) => (name === 'ROOKERY_DOLLAR' ? '$' : ''));
  expect(JSON.parse(expanded).env[0].envVar).toBe(`PRICE=$5 ${home}`);
});

it('asks a cluster only for what it can have', () => {
  const args = (...names: string[]) => shapeOf({ clusterName: 'dev', k3sArgs: names.map((arg) => ({ arg })) });
  expect(args('--flannel-backend=none').hasNetwork).toBe(false);
  expect(args('--disable=traefik,coredns').hasDns).toBe(false);
});

it('notices changes that need a new cluster, and only those', () => {
  const spec: K3dSpec = { clusterName: 'dev', kubernetesVersion: '1.35' };
  const same: K3dSpec = {
    ...spec,
    servers: 1,
    agents: 5,
    images: ['mine:1'],
    loadBalancer: false,
    controlPlaneEndpoint: { host: 'h', port: 1 },
  };
  expect(fingerprint(same)).toBe(fingerprint(spec));
  expect(fingerprint({ ...spec, servers: 3 })).not.toBe(fingerprint(spec));
  expect(fingerprint({ ...spec, loadBalancer: true })).not.toBe(fingerprint(spec));
});

/** The configuration file k3d is given, from the spec of a K3dCluster. Pure: the same spec gives the same text. */
import type { K3dCluster } from '../../api/infrastructure/k3d-cluster.ts';
import type { ClusterShape } from '../docker-cluster/cluster-tool.ts';
import { fingerprintOf } from '../docker-cluster/fingerprint.ts';
import { OWNER_LABEL } from './ownership.ts';

export type K3dSpec = K3dCluster['spec'];

const LOOPBACK = '127.0.0.1';
/** For each of the three parts of its work, pulling images among them. */
const TIMEOUT = '600s';
/** k3d expands variables in the whole file, and knows no other way to write this sign. */
export const DOLLAR = 'ROOKERY_DOLLAR';

/** With one server it would only cost memory and time; with several it is the one address that outlives each of them. */
export function hasLoadBalancer(spec: K3dSpec): boolean {
  return spec.loadBalancer ?? (spec.servers ?? 1) > 1;
}

export function shapeOf(spec: K3dSpec): ClusterShape {
  const { servers = 1, agents = 0 } = spec;
  const args = (spec.k3sArgs ?? []).map(({ arg }) => arg);
  return {
    nodes: servers + agents,
    controlPlanes: servers,
    containers: servers + agents + (hasLoadBalancer(spec) ? 1 : 0),
    hasNetwork: !args.some((arg) => /^--flannel-backend[= ]none$/.test(arg)),
    hasDns: !args.some((arg) => /^--disable[= ].*\bcoredns\b/.test(arg)),
  };
}

export function networkName(cluster: string): string {
  return `k3d-${cluster}`;
}

export function imageVolumeName(cluster: string): string {
  return `k3d-${cluster}-images`;
}

export function containerNames(cluster: string, { nodes, controlPlanes, containers }: ClusterShape): string[] {
  const numbered = (role: string, count: number) =>
    Array.from({ length: count }, (_, index) => `k3d-${cluster}-${role}-${index}`);
  return [
    `k3d-${cluster}-tools`,
    ...numbered('server', controlPlanes),
    ...numbered('agent', nodes - controlPlanes),
    ...(containers > nodes ? [`k3d-${cluster}-serverlb`] : []),
  ];
}

/** Where the API is for containers on the cluster's network. */
export function internalServer(cluster: string, spec: K3dSpec): string {
  return `https://k3d-${cluster}-${hasLoadBalancer(spec) ? 'serverlb' : 'server-0'}:6443`;
}

export interface ConfigParts {
  name: string;
  image: string;
  owner: string;
  /** Text of registries.yaml. */
  registryConfig?: string;
}

/** JSON, which is YAML too. */
export function k3dConfig(spec: K3dSpec, { name, image, owner, registryConfig }: ConfigParts): string {
  const { servers = 1, agents = 0, apiAddress = LOOPBACK } = spec;
  const isBalanced = hasLoadBalancer(spec);
  const nodes = ['server:*', ...(agents > 0 ? ['agent:*'] : [])];
  // A cluster that is made again keeps the address its users know.
  const apiPort = spec.apiPort || spec.controlPlaneEndpoint?.port;
  const config = {
    apiVersion: 'k3d.io/v1alpha5',
    kind: 'Simple',
    metadata: { name },
    servers,
    agents,
    image,
    kubeAPI: {
      host: apiAddress === '0.0.0.0' ? LOOPBACK : apiAddress,
      hostIP: apiAddress,
      ...(apiPort ? { hostPort: String(apiPort) } : {}),
    },
    // Members of etcd know each other by address, and Docker deals addresses anew at every start.
    subnet: spec.subnet ?? (servers > 1 ? 'auto' : undefined),
    ports: spec.ports?.map((port) => ({
      port: portText(port),
      nodeFilters: port.nodeFilters ?? [isBalanced ? 'loadbalancer' : 'server:0:direct'],
    })),
    volumes: spec.volumes?.map(({ hostPath, containerPath, readOnly, nodeFilters = nodes }) => ({
      volume: `${hostPath}:${containerPath}${readOnly ? ':ro' : ''}`,
      nodeFilters,
    })),
    env: spec.env?.map((env) => ({ envVar: `${env.name}=${env.value}`, nodeFilters: env.nodeFilters ?? nodes })),
    registries:
      spec.registries || registryConfig ? { use: spec.registries ?? [], config: registryConfig ?? '' } : undefined,
    options: {
      k3d: { wait: true, timeout: TIMEOUT, disableLoadbalancer: !isBalanced },
      k3s: { extraArgs: spec.k3sArgs?.map(({ arg, nodeFilters = ['server:*'] }) => ({ arg, nodeFilters })) },
      kubeconfig: { updateDefaultKubeconfig: false, switchCurrentContext: false },
      runtime: {
        serversMemory: spec.serverMemory,
        agentsMemory: spec.agentMemory,
        labels: [{ label: `${OWNER_LABEL}=${owner}`, nodeFilters: ['all'] }],
      },
    },
  };
  return JSON.stringify(config, null, 2).replaceAll('$', `\${${DOLLAR}}`);
}

/** Changes when something changes that only a new cluster can have; agents and images follow in place. */
export function fingerprint(spec: K3dSpec): string {
  const { controlPlaneEndpoint: _, clusterName: __, agents: ___, images: ____, servers = 1, ...rest } = spec;
  return fingerprintOf({ ...rest, servers, loadBalancer: hasLoadBalancer(spec) });
}

/** `127.0.0.1:8080:80/udp`; without a port of the host Docker takes any free one. */
function portText(port: NonNullable<K3dSpec['ports']>[number]): string {
  const { listenAddress, hostPort, containerPort, protocol = 'TCP' } = port;
  const host = [...(listenAddress ? [listenAddress] : []), ...(hostPort || listenAddress ? [hostPort || ''] : [])];
  return `${[...host, containerPort].join(':')}/${protocol.toLowerCase()}`;
}

/** Nodes that nobody runs: how they are made, what they say of themselves, and how they are recognised. */
import type { KubeObject } from '../../../../api/object.ts';
import { VERSION } from '../../../../apiserver/version.ts';

export const FIDELITY = 'rookery.dev/fidelity';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const KWOK = 'kwok.x-k8s.io/node';

const CAPACITY = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' };

/** Type, healthy status, reason and message, as a kubelet words them. */
const CONDITIONS: [string, string, string, string][] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
];

/** What a kubelet says when all is well. */
export function healthyConditions(timestamp: string) {
  const times = { lastHeartbeatTime: timestamp, lastTransitionTime: timestamp };
  return CONDITIONS.map(([type, status, reason, message]) => ({ type, status, ...times, reason, message }));
}

export function isSimulated({ metadata }: KubeObject): boolean {
  return metadata.labels?.[FIDELITY] === 'simulated' || metadata.annotations?.[KWOK] === 'fake';
}

export type NodeRole = 'control-plane' | 'node';

/** The nodes a virtual cluster is born with: `<tenant>-control-plane-0`, `<tenant>-node-0`, … */
export function simulatedNode(tenant: string, role: NodeRole, index: number): KubeObject {
  const name = `${tenant}-${role}-${index}`;
  const isControlPlane = role === 'control-plane';
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name.slice(-63).replace(/^[^a-z0-9]+/, ''),
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'beta.kubernetes.io/arch': 'amd64',
        [FIDELITY]: 'simulated',
        ...(isControlPlane ? { [CONTROL_PLANE]: '' } : {}),
      },
      annotations: { [FIDELITY]: 'simulated' },
    },
    spec: isControlPlane ? { taints: [{ key: CONTROL_PLANE, effect: 'NoSchedule' }] } : {},
  };
}

/** What a node says when it starts; what its maker has said already stays. */
export function nodeStatus(node: KubeObject, block: number, timestamp: string): KubeObject['status'] {
  const status = node.status ?? {};
  const capacity = { ...CAPACITY, ...status.capacity };
  const name = node.metadata.name ?? '';
  const known = new Map((status.conditions ?? []).map((c: { type: string }) => [c.type, c]));
  const conditions = healthyConditions(timestamp).map((healthy) => known.get(healthy.type) ?? healthy);
  const others = (status.conditions ?? []).filter(
    (c: { type: string }) => !CONDITIONS.some(([type]) => type === c.type),
  );
  return {
    ...status,
    capacity,
    allocatable: { ...capacity, ...status.allocatable },
    conditions: [...others, ...conditions],
    addresses: status.addresses?.length
      ? status.addresses
      : [
          { type: 'InternalIP', address: addressOf(block) },
          { type: 'Hostname', address: name },
        ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 }, ...status.daemonEndpoints },
    nodeInfo: {
      machineID: '',
      systemUUID: '',
      bootID: '',
      kernelVersion: 'simulated',
      osImage: 'Rookery simulated node',
      containerRuntimeVersion: 'simulated://0',
      kubeletVersion: VERSION.gitVersion.split('+', 1)[0],
      kubeProxyVersion: '',
      operatingSystem: node.metadata.labels?.['kubernetes.io/os'] ?? 'linux',
      architecture: node.metadata.labels?.['kubernetes.io/arch'] ?? 'amd64',
      ...filled(status.nodeInfo),
    },
  };
}

/** The server stores unset strings as empty ones. */
function filled(info: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(info).filter(([, value]) => value !== ''));
}

/** The n-th /24 of 10.244.0.0/14 and what follows. */
export function podCidr(block: number): string {
  return `10.${244 + Math.floor(block / 256)}.${block % 256}.0/24`;
}

export function blockOf(cidr: string | undefined): number {
  const [, second = '', third = ''] = /^10\.(\d+)\.(\d+)\.0\/24$/.exec(cidr ?? '') ?? [];
  return second ? (Number(second) - 244) * 256 + Number(third) : -1;
}

function addressOf(block: number): string {
  const host = block + 2;
  return `172.${18 + Math.floor(host / 65536)}.${Math.floor(host / 256) % 256}.${host % 256}`;
}

export function internalIp(node: KubeObject): string {
  const addresses: { type: string; address: string }[] = node.status?.addresses ?? [];
  return addresses.find(({ type }) => type === 'InternalIP')?.address ?? '';
}

export function isNodeReady(node: KubeObject): boolean {
  return node.status?.conditions?.some(
    (c: { type: string; status: string }) => c.type === 'Ready' && c.status === 'True',
  );
}

/**
 * The objects a cluster is born with, in an order in which they can be created. Used once, to make the template that
 * new clusters are copied from.
 */
import type { KubeObject } from '../../api/object.ts';
import { bootstrapRbac } from '../auth/bootstrap-policy.ts';
import { bootstrapFlowControl } from './bootstrap-flow-control.ts';
import { namespaceDefaultObjects } from './namespace-defaults.ts';

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const SYSTEM_CRITICAL = 2_000_000_000;

export interface BootstrapParameters {
  /** PEM of the CA that clients verify the server with. */
  rootCa: string;
  /** PEM bundle of the CA that signs client certificates. */
  clientCa?: string;
  /** Where the server can be reached; validation of Endpoints refuses loopback addresses. */
  address: string;
  port: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** Default 10.96.0.0/16, whose first address becomes that of default/kubernetes. */
  serviceCidr?: string;
}

export function bootstrapObjects(parameters: BootstrapParameters): KubeObject[] {
  return [
    ...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...NAMESPACES.flatMap((namespace) => namespaceDefaultObjects(parameters.rootCa).map((o) => inside(namespace, o))),
    serviceCidr(parameters),
    ...kubernetesService(parameters),
    kubernetesAddress(parameters),
    authenticationConfig(parameters),
    ...priorityClasses(),
    ...bootstrapFlowControl(parameters.now),
    ...bootstrapRbac(),
  ];
}

function inside(namespace: string, object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}

const DEFAULT_CIDR = '10.96.0.0/16';

function serviceCidr({ serviceCidr = DEFAULT_CIDR }: BootstrapParameters): KubeObject {
  const spec = { cidrs: [serviceCidr] };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'kubernetes' }, spec };
}

/** Service, Endpoints and EndpointSlice of the API server itself; the three have to agree. */
function kubernetesService({ address, port, serviceCidr = DEFAULT_CIDR }: BootstrapParameters): KubeObject[] {
  const place = { name: 'kubernetes', namespace: 'default' };
  const clusterIP = firstAddress(serviceCidr);
  const slicePort = { name: 'https', port, protocol: 'TCP' };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...place, labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        type: 'ClusterIP',
        clusterIP,
        clusterIPs: [clusterIP],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        sessionAffinity: 'None',
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      // Whoever mirrors Endpoints into slices must leave this one alone: its slice is below.
      metadata: { ...place, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: address }], ports: [slicePort] }],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...place, generation: 1, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [slicePort],
    },
  ];
}

/** The service's address counts as taken. */
function kubernetesAddress({ serviceCidr = DEFAULT_CIDR }: BootstrapParameters): KubeObject {
  const labels = {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: { name: firstAddress(serviceCidr), labels },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } },
  };
}

/** Where extension API servers learn whom to trust. */
function authenticationConfig({ clientCa }: BootstrapParameters): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    ...(clientCa ? { data: { 'client-ca-file': clientCa } } : {}),
  };
}

function priorityClasses(): KubeObject[] {
  const make = (name: string, value: number, description: string): KubeObject => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name, generation: 1 },
    value,
    description,
    preemptionPolicy: 'PreemptLowerPriority',
  });
  const movable = 'can be moved to another node if necessary.';
  return [
    make(
      'system-node-critical',
      SYSTEM_CRITICAL + 1000,
      'Used for system critical pods that must not be moved from their current node.',
    ),
    make(
      'system-cluster-critical',
      SYSTEM_CRITICAL,
      `Used for system critical pods that must run in the cluster, but ${movable}`,
    ),
  ];
}

function firstAddress(cidr: string): string {
  const [network = ''] = cidr.split('/');
  const parts = network.split('.').map(Number);
  parts[3] = (parts[3] ?? 0) + 1;
  return parts.join('.');
}

/**
 * How a vcluster is reached from outside its host: the address of a node and a port of it, or a load balancer. Addresses are chosen once and kept in
 * the claim, for its certificate names them, and a certificate that changes restarts the control plane.
 */
import type { KubeObject } from '../../api/object.ts';
import { isForbidden, type ObjectStore } from '../../kube/index.ts';
import * as host from './host-resources.ts';
import type { VclusterSpec } from './marks.ts';

export interface Reach {
  /** In the certificate. */
  addresses: string[];
  /** In the kubeconfig: one of them. */
  address?: string;
  nodePort?: number;
}

/** Of a host with many nodes, the first ones do. */
const NODES = 10;

export function reachFrom(claim: KubeObject | undefined): Reach {
  const { addresses = '', address, nodePort } = (claim?.data ?? {}) as Record<string, string | undefined>;
  return {
    addresses: addresses.split(' ').filter(Boolean),
    ...(address ? { address } : {}),
    ...(nodePort ? { nodePort: Number(nodePort) } : {}),
  };
}

export function reachData({ addresses, address, nodePort }: Reach): Record<string, string> {
  return {
    addresses: addresses.join(' '),
    address: address ?? '',
    nodePort: nodePort ? String(nodePort) : '',
  };
}

/** Keeps what was chosen as long as one of its nodes is there. */
export async function chooseReach(
  store: ObjectStore,
  spec: VclusterSpec,
  known: Reach,
  signal?: AbortSignal,
): Promise<Reach> {
  if ((spec.expose?.type ?? 'NodePort') !== 'NodePort') return known;
  const { external, all } = await nodeAddresses(store, signal);
  const alive = known.addresses.filter((address) => all.includes(address));
  if (known.address && alive.includes(known.address)) return known;
  if (alive.length > 0) return { ...known, address: external.find((a) => alive.includes(a)) ?? (alive[0] as string) };
  return { ...known, addresses: [...new Set(all)].sort(), address: external[0] };
}

/** `external`: of each node the one that leads farthest. */
async function nodeAddresses(store: ObjectStore, signal?: AbortSignal): Promise<{ external: string[]; all: string[] }> {
  const { items } = await store.list(host.nodes, { limit: NODES, signal }).catch((error) => {
    // vcluster then has the address of its own node in its certificate, and that one is used.
    if (isForbidden(error)) return { items: [] as KubeObject[] };
    throw error;
  });
  const of = (node: KubeObject, type: string): string[] =>
    (node.status?.addresses ?? [])
      .filter((entry: { type: string }) => entry.type === type)
      .map((entry: { address: string }) => entry.address);
  const perNode = items.map((node) => [...of(node, 'ExternalIP'), ...of(node, 'InternalIP')]);
  return { external: perNode.flatMap((addresses) => addresses.slice(0, 1)), all: perNode.flat() };
}

export interface Endpoint {
  host: string;
  port: number;
}

/** Where its API is from outside; undefined while the host has not said yet. */
export function outsideEndpoint(
  spec: VclusterSpec,
  parts: { reach: Reach; service?: KubeObject; pod?: KubeObject },
): Endpoint | undefined {
  const { service, pod, reach } = parts;
  const type = service?.spec?.type ?? 'NodePort';
  if (type === 'LoadBalancer') {
    const ingress = service?.status?.loadBalancer?.ingress?.[0];
    const address = spec.expose?.host ?? ingress?.hostname ?? ingress?.ip;
    return address ? { host: address, port: 443 } : undefined;
  }
  const nodePort = nodePortOf(service);
  if (type === 'NodePort') {
    const address = spec.expose?.host ?? reach.address ?? pod?.status?.hostIP;
    return address && nodePort ? { host: address, port: nodePort } : undefined;
  }
  return insideEndpoint(service);
}

export const insideEndpoint = (service: KubeObject | undefined): Endpoint | undefined =>
  service && { host: `${service.metadata.name}.${service.metadata.namespace}`, port: 443 };

export function nodePortOf(service: KubeObject | undefined): number | undefined {
  return (service?.spec?.ports ?? []).find((port: { name: string }) => port.name === 'https')?.nodePort;
}

/** Asks a vcluster that runs whether it can be used: through the address people use, with the kubeconfig they get. */
import type { KubeObject } from '../../api/object.ts';
import { ignoreNotFound, type ObjectStore, type Place } from '../../kube/index.ts';
import type { HealthProbe } from '../cluster-health.ts';
import type { Observation } from '../provisioner.ts';
import { readClaim } from './claim.ts';
import { isPodReady } from './diagnosis.ts';
import * as host from './host-resources.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import { DNS_LABEL, namespaceOf, SYNCED_LABEL, type VclusterSpec } from './marks.ts';
import { insideEndpoint, outsideEndpoint, reachFrom } from './reach.ts';

export interface Parts {
  spec: VclusterSpec;
  /** Where its host may be: its API server is reached at a node of that, or a load balancer before it. */
  place: Place | undefined;
  claim?: KubeObject;
  service?: KubeObject;
  pod?: KubeObject;
  /** What runs, where it cannot be asked. */
  version?: string;
  /** For those outside, where it was read already. */
  kubeconfig?: string;
}

export async function readKubeconfig(
  store: ObjectStore,
  { spec, claim, service, pod }: Omit<Parts, 'place'>,
  audience: 'external' | 'internal',
  signal?: AbortSignal,
): Promise<string | undefined> {
  const name = spec.clusterName;
  const key = { namespace: namespaceOf(spec), name: `vc-${name}` };
  const secret = await store.get(host.secrets, key, { signal }).catch(ignoreNotFound);
  const endpoint =
    audience === 'internal'
      ? insideEndpoint(service)
      : outsideEndpoint(spec, { service, pod, reach: reachFrom(claim) });
  return secret && endpoint && kubeconfigFor(name, secret, endpoint);
}

export async function look(
  store: ObjectStore,
  parts: Parts,
  probe: HealthProbe,
  signal?: AbortSignal,
): Promise<Observation> {
  const { spec, claim, service, pod } = parts;
  const version = parts.version ?? readClaim(claim).kubernetesVersion;
  const endpoint = outsideEndpoint(spec, { service, pod, reach: reachFrom(claim) });
  const starting = (why: string): Observation => ({ phase: 'starting', nodes: [], missing: [why], version });
  if (!isPodReady(pod)) return starting('the pod of the control plane is not Ready');
  if (!endpoint) return starting('the host has given it no address yet');
  const kubeconfig = parts.kubeconfig ?? (await readKubeconfig(store, parts, 'external', signal));
  if (!kubeconfig) return starting(`it has not written its kubeconfig (Secret vc-${spec.clusterName}) yet`);
  if (service?.spec?.type === 'ClusterIP') {
    const missing = await seenFromHost(store, spec, signal);
    return { phase: missing.length === 0 ? 'ready' : 'degraded', nodes: [], missing, version, endpoint };
  }
  const hasDns = isDnsWanted(spec);
  const { place = 'another machine' } = parts;
  const expected = { nodes: hasDns ? 1 : 0, hasNetwork: hasDns, dnsLabel: DNS_LABEL, place };
  const health = await probe(kubeconfig, expected, signal);
  const { nodes, missing } = health;
  const phase = missing.length === 0 ? 'ready' : 'degraded';
  return { phase, nodes, missing, endpoint, version: health.version ?? version };
}

/** Not to be reached from here: its host's kubelet has asked `/readyz`, and its DNS is a pod there. */
async function seenFromHost(store: ObjectStore, spec: VclusterSpec, signal?: AbortSignal): Promise<string[]> {
  if (!isDnsWanted(spec)) return [];
  const labelSelector = `${SYNCED_LABEL}=${spec.clusterName},${DNS_LABEL}`;
  const { items } = await store.list(host.pods, { namespace: namespaceOf(spec), labelSelector, signal });
  return items.some(isPodReady) ? [] : ['cluster DNS is not available'];
}

function isDnsWanted(spec: VclusterSpec): boolean {
  const values = spec.values as { controlPlane?: { coredns?: { enabled?: boolean } } } | undefined;
  return values?.controlPlane?.coredns?.enabled !== false;
}

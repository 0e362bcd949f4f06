/** What there is of a cluster of containers: first Docker's word on the containers, then the cluster's own on itself. */
import { RookeryError } from '../../errors.ts';
import type { Container } from '../../tools/docker.ts';
import type { ClusterHealth } from '../cluster-health.ts';
import type { Observation } from '../provisioner.ts';
import { endpointOf } from './answers.ts';
import type { ClusterShape } from './cluster-tool.ts';

export interface LookParts {
  containers: Container[];
  shape: ClusterShape;
  /** Undefined for what is no node. */
  roleOf(container: Container): string | undefined;
  kubeconfig(): Promise<string>;
  probe(kubeconfig: string): Promise<ClusterHealth>;
  /** The cluster does not take the kubeconfig any more: the next look needs a new one. */
  rejected(): Promise<void>;
}

const REJECTED = /\b401\b|certificate/i;

export async function look({ containers, shape, ...parts }: LookParts): Promise<Observation> {
  const nodes = containers.flatMap((container) => {
    const role = parts.roleOf(container);
    return role ? [{ name: container.name, role, ready: false }] : [];
  });
  const stopped = containers.filter((container) => container.state !== 'running');
  if (stopped.length === containers.length) {
    return { phase: 'suspended', nodes, missing: ['all containers are stopped'] };
  }
  const missing: string[] = [];
  const gone = shape.containers - containers.length;
  if (gone > 0) missing.push(`${gone} of ${shape.containers} containers are gone`);
  for (const { name, state } of stopped) missing.push(`container ${name} is ${state}`);
  try {
    const kubeconfig = await parts.kubeconfig();
    const health = await parts.probe(kubeconfig);
    missing.push(...health.missing);
    if (health.missing.some((text) => REJECTED.test(text))) await parts.rejected();
    for (const node of nodes) node.ready = health.nodes.some(({ name, ready }) => name === node.name && ready);
    const endpoint = endpointOf(kubeconfig);
    return { phase: missing.length === 0 ? 'ready' : 'degraded', nodes, version: health.version, missing, endpoint };
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    return { phase: 'starting', nodes, missing: [...missing, error.message] };
  }
}

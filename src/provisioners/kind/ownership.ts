/**
 * Whose kind cluster is it? kind cannot label its containers, but it mounts what its configuration says, in the same call
 * that makes the container: every node of ours has a mount at `/etc/rookery/owner/<uid>`. So there is no moment at which a node
 * exists without saying whose it is. The load balancer of several control planes takes no mounts: it belongs to whom its nodes do,
 * or, with no node left, to the one whose creation was under way when it appeared.
 */
import type { Container } from '../../tools/docker.ts';
import type { Belongings } from '../docker-cluster/cluster-tool.ts';

export const CLUSTER_LABEL = 'io.x-k8s.kind.cluster';
const ROLE_LABEL = 'io.x-k8s.kind.role';
const MARK = '/etc/rookery/owner/';
const BALANCER = 'external-load-balancer';

export function markPath(owner: string): string {
  return `${MARK}${owner}`;
}

export function ownerOf(container: Container): string | undefined {
  return container.mounts.find((mount) => mount.destination.startsWith(MARK))?.destination.slice(MARK.length);
}

/** Undefined for the load balancer, which is no node. */
export function roleOf(container: Container): string | undefined {
  const role = container.labels[ROLE_LABEL] ?? 'node';
  return role === BALANCER ? undefined : role;
}

/** `createdSince`: when we began to make the cluster, if we did. */
export function divide(containers: Container[], owner: string, createdSince?: number): Belongings {
  const nodes = containers.filter((container) => roleOf(container) !== undefined);
  const isOurs = (container: Container) => {
    if (roleOf(container) !== undefined) return ownerOf(container) === owner;
    if (nodes.length > 0) return nodes.every((node) => ownerOf(node) === owner);
    return createdSince !== undefined && container.createdAt >= createdSince - 1000;
  };
  return { ours: containers.filter(isOurs), others: containers.filter((container) => !isOurs(container)) };
}

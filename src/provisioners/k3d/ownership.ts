/**
 * Whose k3d cluster is it? Every node and the load balancer bear our label, which Docker sets in the call that makes the container. The
 * helper that k3d starts for a moment takes no labels: it belongs to whom the nodes do, or, with no node left, to the one whose
 * creation was under way when it appeared. The network and the volume of images are known by their names, once they are claimed.
 */
import type { Container } from '../../tools/docker.ts';
import type { Belongings } from '../docker-cluster/cluster-tool.ts';

export const CLUSTER_LABEL = 'k3d.cluster';
export const OWNER_LABEL = 'rookery.dev/owner';
const ROLE_LABEL = 'k3d.role';
const HELPER = 'noRole';
const NODE_ROLES: Record<string, string> = { server: 'control-plane', agent: 'worker' };

export function ownerOf(container: Container): string | undefined {
  return container.labels[OWNER_LABEL];
}

/** Undefined for the load balancer and the helper, which are no nodes. */
export function roleOf(container: Container): string | undefined {
  return NODE_ROLES[container.labels[ROLE_LABEL] ?? ''];
}

export function isHelper(container: Container): boolean {
  return container.labels[ROLE_LABEL] === HELPER;
}

export function divide(containers: Container[], owner: string, createdSince: number | undefined): Belongings {
  const lasting = containers.filter((container) => !isHelper(container));
  const isOurs = (container: Container) => {
    if (!isHelper(container)) return ownerOf(container) === owner;
    if (lasting.length > 0) return lasting.every((other) => ownerOf(other) === owner);
    return ownerOf(container) === owner || (createdSince !== undefined && container.createdAt >= createdSince - 1000);
  };
  return { ours: containers.filter(isOurs), others: containers.filter((container) => !isOurs(container)) };
}

/** Agents come and go while the cluster runs: how many there should be, which go, what new ones are called. */
import type { Container } from '../../tools/docker.ts';
import type { K3dSpec } from './config.ts';
import { OWNER_LABEL, roleOf } from './ownership.ts';

export interface AgentsToDo {
  missing: number;
  /** Too many: the youngest go first. */
  surplus: Container[];
}

export function agentsOf(containers: readonly Container[]): Container[] {
  return containers.filter((container) => roleOf(container) === 'worker');
}

export function agentsToDo(wanted: number, containers: readonly Container[]): AgentsToDo {
  const agents = agentsOf(containers).sort((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? 1 : -1));
  return {
    missing: Math.max(0, wanted - agents.length),
    surplus: agents.slice(0, Math.max(0, agents.length - wanted)),
  };
}

/** Whether a node is called as only agents of the cluster are. */
export function isAgentName(cluster: string, node: string): boolean {
  return node.startsWith(`k3d-${cluster}-agent-`);
}

export interface NewAgents {
  /** Of their group; the next one gets a higher one. */
  number: number;
  /** Arguments of `k3d node create`. */
  args: string[];
  /** What the containers will be called. */
  names: string[];
}

/** k3d calls them `k3d-<group>-<number>`; the group gets a number that no agent has had, for k3s knows nodes by name and password. */
export function newAgents(
  ref: { id: string; name: string; spec: K3dSpec },
  count: number,
  containers: readonly Container[],
  lastNumber: number,
): NewAgents {
  const { id, name, spec } = ref;
  const taken = agentsOf(containers).map((agent) => Number(/-agent-(\d+)/.exec(agent.name)?.[1] ?? -1));
  const number = Math.max(spec.agents ?? 0, ...[...taken, lastNumber].map((before) => before + 1));
  const group = `${name}-agent-${number}`;
  // Copied from another agent where there is one; otherwise k3d copies a server, whose arguments are not for agents.
  const isFirst = taken.length === 0;
  const k3sArgs = (spec.k3sArgs ?? []).filter(({ nodeFilters = [] }) =>
    nodeFilters.some((filter) => /^(agent|all)/.test(filter)),
  );
  const args = [
    ['node', 'create', group, '--cluster', name, '--role', 'agent', '--replicas', String(count)],
    ['--runtime-label', `${OWNER_LABEL}=${id}`, '--timeout', '600s'],
    spec.agentMemory ? ['--memory', spec.agentMemory] : [],
    isFirst ? k3sArgs.flatMap(({ arg }) => ['--k3s-arg', arg]) : [],
  ].flat();
  return { number, args, names: Array.from({ length: count }, (_, index) => `k3d-${group}-${index}`) };
}

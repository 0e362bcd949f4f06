/** Whether a pod may run on a node, and if not, why, worded as upstream's plug-ins word it. */
import type { KubeObject } from '../../../../api/object.ts';
import { matchesNode, untolerated } from './node-affinity.ts';
import { affinityProblem, type NamespaceLabels, spreadProblem } from './pod-affinity.ts';
import { requestsOf } from './requests.ts';
import type { NodeView } from './snapshot.ts';

export interface Refusal {
  reasons: string[];
  /** Preemption cannot help. */
  final: boolean;
}

interface HostPort {
  ip: string;
  port: number;
  protocol: string;
}

export function refusal(
  pod: KubeObject,
  view: NodeView,
  all: NodeView[],
  labelsOf: NamespaceLabels,
): Refusal | undefined {
  const { node } = view;
  const no = (reason: string): Refusal => ({ reasons: [reason], final: true });
  const unschedulable = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  if (node.spec?.unschedulable && untolerated(pod, { ...node, spec: { taints: [unschedulable] } }, ['NoSchedule'])) {
    return no('node(s) were unschedulable');
  }
  if (pod.spec.nodeName && pod.spec.nodeName !== view.name) return no("node(s) didn't match the requested node name");
  if (untolerated(pod, node, ['NoSchedule', 'NoExecute'])) return no('node(s) had untolerated taint(s)');
  if (!matchesNode(pod, node)) return no("node(s) didn't match Pod's node affinity/selector");
  if (portConflict(pod, view)) {
    return { reasons: ["node(s) didn't have free ports for the requested pod ports"], final: false };
  }
  const lacking = insufficient(pod, view);
  if (lacking.reasons.length) return lacking;
  const spreading = spreadProblem(pod, view, all);
  if (spreading) return { reasons: [spreading.reason], final: spreading.final };
  const together = affinityProblem(pod, view, all, labelsOf);
  if (together) return { reasons: [together.reason], final: together.final };
  return undefined;
}

export function insufficient(pod: KubeObject, view: NodeView): Refusal {
  const reasons: string[] = [];
  let final = false;
  if (view.pods.size + 1 > (view.allocatable.pods ?? 110)) reasons.push('Too many pods');
  for (const [name, amount] of Object.entries(requestsOf(pod))) {
    if (amount === 0) continue;
    const total = view.allocatable[name] ?? 0;
    if (amount <= total - (view.requested[name] ?? 0) + 1e-9) continue;
    reasons.push(`Insufficient ${name}`);
    // Not even an empty node has that much.
    if (amount > total) final = true;
  }
  return { reasons, final };
}

export function portConflict(pod: KubeObject, view: NodeView): boolean {
  const wanted = hostPorts(pod);
  if (!wanted.length) return false;
  for (const { pod: other } of view.pods.values()) {
    for (const taken of hostPorts(other)) if (wanted.some((port) => clash(port, taken))) return true;
  }
  return false;
}

function clash(a: HostPort, b: HostPort): boolean {
  const sameIp = a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0';
  return a.port === b.port && a.protocol === b.protocol && sameIp;
}

function hostPorts(pod: KubeObject): HostPort[] {
  const found: HostPort[] = [];
  for (const container of pod.spec.containers ?? []) {
    for (const { hostPort, hostIP, protocol } of container.ports ?? []) {
      if (hostPort) found.push({ ip: hostIP || '0.0.0.0', port: hostPort, protocol: protocol ?? 'TCP' });
    }
  }
  return found;
}

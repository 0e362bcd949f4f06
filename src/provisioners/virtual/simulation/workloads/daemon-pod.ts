/** A DaemonSet's pod on a node: whether it belongs there, and how it is pinned to it. */
import type { KubeObject } from '../../../../api/object.ts';
import { matchesNode, untolerated } from '../scheduler/node-affinity.ts';
import { HASH_LABEL } from './history.ts';
import { podFrom } from './pod-template.ts';

/** What every daemon puts up with (daemon/util/daemonset_util.go). */
const TOLERATIONS: [key: string, effect: string][] = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
];

/** `run`: a pod should start here. `keep`: one that is here may stay. */
export function belongs(set: KubeObject, node: KubeObject): { run: boolean; keep: boolean } {
  const pod = tolerant(podFrom(set.spec.template, set, {}));
  const wanted = set.spec.template.spec?.nodeName;
  const fits = (!wanted || wanted === node.metadata.name) && matchesNode(pod, node);
  return {
    run: fits && !untolerated(pod, node, ['NoSchedule', 'NoExecute']),
    keep: fits && !untolerated(pod, node, ['NoExecute']),
  };
}

export function daemonPod(set: KubeObject, node: string, hash: string): KubeObject {
  const pod = tolerant(podFrom(set.spec.template, set, { generateName: `${set.metadata.name}-` }));
  pod.metadata.labels = {
    ...pod.metadata.labels,
    [HASH_LABEL]: hash,
    'pod-template-generation': String(set.metadata.generation ?? 1),
  };
  const required = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }] };
  const { affinity } = pod.spec;
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  pod.spec.affinity = { ...affinity, nodeAffinity };
  return pod;
}

/** The node a daemon pod is meant for, also before it is bound. */
export function targetNode({ spec }: KubeObject): string {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return spec.nodeName ?? terms?.[0]?.matchFields?.[0]?.values?.[0] ?? '';
}

function tolerant(pod: KubeObject): KubeObject {
  const network: [string, string][] = pod.spec.hostNetwork ? [['network-unavailable', 'NoSchedule']] : [];
  const added = [...TOLERATIONS, ...network].map(([key, effect]) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect,
  }));
  pod.spec.tolerations = [...(pod.spec.tolerations ?? []), ...added];
  return pod;
}

/**
 * What a Machine gives its Node: who it belongs to, the labels and annotations meant for nodes, its taints. What was
 * given is noted on the Node, so that it can be taken away again without touching what others put there.
 */
import type { KubeObject } from '../../../api/object.ts';
import { controllerOf, createMergePatch, type ObjectStore } from '../../../kube/index.ts';
import { ANNOTATION, LABEL, TAINT } from '../names.ts';
import { nodeResource } from '../workload/workload-connection.ts';
import type { MachineScope } from './machine-scope.ts';

interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

type Texts = Record<string, string>;

const NODE_DOMAIN = 'node.cluster.x-k8s.io';
const ALWAYS = [
  ANNOTATION.clusterName,
  ANNOTATION.clusterNamespace,
  ANNOTATION.machine,
  ANNOTATION.ownerKind,
  ANNOTATION.ownerName,
];

export async function syncNode(scope: MachineScope, api: ObjectStore, node: KubeObject): Promise<void> {
  const wanted = wantedNode(scope, node);
  const patch = createMergePatch({ metadata: node.metadata, spec: node.spec }, wanted);
  if (!patch) return;
  // Taints are replaced whole: nobody else's may get lost.
  const { uid, resourceVersion } = node.metadata;
  const body = { ...patch, metadata: { ...(patch.metadata as object), uid, resourceVersion } };
  const name = node.metadata.name as string;
  await api.patch(nodeResource, { name }, { type: 'merge', body }, { signal: scope.signal });
}

/** Metadata and spec as they shall be. */
export function wantedNode(scope: MachineScope, node: KubeObject): Pick<KubeObject, 'metadata' | 'spec'> {
  const annotations: Texts = { ...node.metadata.annotations };
  const labels: Texts = { ...node.metadata.labels };
  give(annotations, annotationsFor(scope.machine), [
    ...noted(annotations, ANNOTATION.annotationsFromMachine),
    ...ALWAYS,
  ]);
  const given = labelsFor(scope);
  give(labels, given, noted(annotations, ANNOTATION.labelsFromMachine));
  const own = Object.keys(annotationsFor(scope.machine)).filter((key) => !(ALWAYS as string[]).includes(key));
  annotations[ANNOTATION.annotationsFromMachine] = own.sort().join(',');
  annotations[ANNOTATION.labelsFromMachine] = Object.keys(given).sort().join(',');
  const taints = wantedTaints(scope, node, annotations);
  const { taints: _, ...spec } = node.spec ?? {};
  return {
    metadata: { ...node.metadata, annotations, labels },
    spec: taints.length > 0 ? { ...spec, taints } : spec,
  };
}

/** Sets what is to be there, and takes away what was given before and is not to be there any more. */
function give(texts: Texts, wanted: Texts, before: string[]): void {
  for (const key of before) if (!(key in wanted)) delete texts[key];
  Object.assign(texts, wanted);
}

function noted(annotations: Texts, note: string): string[] {
  return (annotations[note] ?? '').split(',').filter(Boolean);
}

function annotationsFor(machine: KubeObject): Texts {
  const { namespace = '', name = '', annotations = {} } = machine.metadata;
  const owner = controllerOf(machine);
  return {
    ...pick(annotations, (domain) => isIn(domain, NODE_DOMAIN)),
    [ANNOTATION.clusterName]: machine.spec.clusterName,
    [ANNOTATION.clusterNamespace]: namespace,
    [ANNOTATION.machine]: name,
    ...(owner ? { [ANNOTATION.ownerKind]: owner.kind, [ANNOTATION.ownerName]: owner.name } : {}),
  };
}

function labelsFor({ machine, infrastructure }: MachineScope): Texts {
  const labels = pick(
    machine.metadata.labels ?? {},
    (domain) =>
      domain === 'node-role.kubernetes.io' ||
      isIn(domain, 'node-restriction.kubernetes.io') ||
      isIn(domain, NODE_DOMAIN),
  );
  return infrastructure.object?.status?.interruptible === true ? { ...labels, [LABEL.interruptible]: '' } : labels;
}

function pick(texts: Texts, wanted: (domain: string) => boolean): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => wanted(key.split('/', 1)[0] as string)));
}

function isIn(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

/** Also notes in `annotations` which taints are the machine's. */
function wantedTaints(scope: MachineScope, node: KubeObject, annotations: Texts): Taint[] {
  const text = ({ key, effect }: Pick<Taint, 'key' | 'effect'>) => `${key}:${effect}`;
  const machineTaints: (Taint & { propagation: string })[] = scope.machine.spec.taints ?? [];
  const note = annotations[ANNOTATION.taintsFromMachine];
  const isFirst = note === undefined;
  const always = machineTaints.filter((taint) => taint.propagation === 'Always');
  const mentioned = new Set(machineTaints.map(text));
  const dropped = new Set((note ?? '').split(',').filter((taint) => taint && !mentioned.has(taint)));
  dropped.add(text(TAINT.uninitialized));
  if (!isOutdated(scope)) dropped.add(text(TAINT.outdatedRevision));
  let taints: Taint[] = (node.spec?.taints ?? []).filter((taint: Taint) => !dropped.has(text(taint)));
  const put = ({ key, value, effect }: Taint) => {
    const known = taints.find((taint) => text(taint) === text({ key, effect }));
    if (known && (known.value ?? '') === (value ?? '')) return;
    taints = [...taints.filter((taint) => taint !== known), { key, ...(value ? { value } : {}), effect }];
  };
  for (const taint of machineTaints) if (isFirst || taint.propagation === 'Always') put(taint);
  if (isOutdated(scope)) put(TAINT.outdatedRevision);
  annotations[ANNOTATION.taintsFromMachine] = always.map(text).sort().join(',');
  return taints;
}

/** Pods are better not moved to a node that will be replaced next. */
function isOutdated({ machineSet, machineDeployment }: MachineScope): boolean {
  if (!machineSet || !machineDeployment) return false;
  const revision = (object: KubeObject) => Number(object.metadata.annotations?.[ANNOTATION.revision] ?? 0);
  return revision(machineSet) < revision(machineDeployment);
}

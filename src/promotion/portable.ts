/** An object as its author could have written it: without what one cluster assigned to it and another must assign anew. */
import type { KubeObject } from '../api/object.ts';

/** Annotations that controllers keep their own notes in. */
const ASSIGNED_ANNOTATIONS =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|deployment\.kubernetes\.io\/|pv\.kubernetes\.io\/|volume\.(beta\.)?kubernetes\.io\/(storage-provisioner|selected-node)|control-plane\.alpha|endpoints\.kubernetes\.io\/|deprecated\.daemonset\.template\.generation)/;
const ASSIGNED_LABELS = /^(kubernetes\.io\/metadata\.name|(batch\.kubernetes\.io\/)?(controller-uid|job-name))$/;
const API_ACCESS = /^kube-api-access-/;

export interface Portable {
  object: KubeObject;
  /** What people should know about the copy. */
  notes: string[];
}

export function portable(source: KubeObject): Portable {
  const { name, namespace, labels, annotations, ownerReferences, finalizers } = source.metadata;
  const { status: _, metadata: __, ...rest } = structuredClone(source);
  const object: KubeObject = {
    ...rest,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...without('labels', labels, ASSIGNED_LABELS),
      ...without('annotations', annotations, ASSIGNED_ANNOTATIONS),
    },
  } as KubeObject;
  const notes: string[] = [];
  if (ownerReferences?.length) notes.push('without its owner, who has another identity there');
  if (finalizers?.some((finalizer) => !finalizer.startsWith('kubernetes.io/'))) {
    notes.push('without its finalizers, which controllers set again');
  }
  CLEANERS[source.kind]?.(object, notes);
  return { object, notes };
}

function without(field: string, map: Record<string, string> | undefined, assigned: RegExp): object {
  const kept = Object.entries(map ?? {}).filter(([key]) => !assigned.test(key));
  return kept.length > 0 ? { [field]: Object.fromEntries(kept) } : {};
}

type Cleaner = (object: KubeObject, notes: string[]) => void;

const CLEANERS: Record<string, Cleaner> = {
  Namespace(object) {
    delete object.spec;
  },
  ServiceAccount(object) {
    delete object.secrets;
  },
  Service(object) {
    const { spec } = object;
    // Headless is a decision, an address is not.
    if (spec.clusterIP !== 'None') {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    delete spec.ipFamilies;
    delete spec.ipFamilyPolicy;
    delete spec.healthCheckNodePort;
    for (const port of spec.ports ?? []) delete port.nodePort;
  },
  PersistentVolumeClaim(object, notes) {
    delete object.spec.volumeName;
    notes.push('an empty volume: its data is not copied');
  },
  Pod(object) {
    const { spec } = object;
    delete spec.nodeName;
    delete spec.serviceAccount;
    withoutApiAccess(spec);
  },
  Job(object) {
    if (object.spec.manualSelector) return;
    delete object.spec.selector;
    const { metadata } = object.spec.template;
    if (metadata) object.spec.template.metadata = { ...metadata, ...relabelled(metadata.labels) };
  },
  CustomResourceDefinition(object) {
    // The server fills these in; left in, they would be ours to keep up to date.
    delete object.spec.names.listKind;
    if (object.spec.conversion?.strategy === 'None') delete object.spec.conversion;
  },
};

function relabelled(labels: Record<string, string> | undefined): { labels: Record<string, string> | undefined } {
  const found = without('labels', labels, ASSIGNED_LABELS) as { labels?: Record<string, string> };
  return { labels: found.labels };
}

/** The volume with a token that the server puts into every pod. */
function withoutApiAccess(spec: KubeObject['spec']): void {
  spec.volumes = (spec.volumes ?? []).filter((volume: { name: string }) => !API_ACCESS.test(volume.name));
  if (spec.volumes.length === 0) delete spec.volumes;
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    container.volumeMounts = (container.volumeMounts ?? []).filter((m: { name: string }) => !API_ACCESS.test(m.name));
    if (container.volumeMounts.length === 0) delete container.volumeMounts;
  }
}

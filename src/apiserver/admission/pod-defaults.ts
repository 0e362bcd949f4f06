/** Small plug-ins that complete pods and nodes: tolerations, priority, runtime class, the not-ready taint. */
import type { KubeObject } from '../../api/object.ts';
import { clone, items, same } from '../builtins/fields.ts';
import { type AdmissionAttributes, type AdmissionPlugin, isResource, listObjects, refuse } from './admission.ts';

const isPod = (attributes: AdmissionAttributes) =>
  isResource(attributes, '', 'pods') && (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE');

/** Pods outlive a node that is not ready or unreachable by five minutes unless they say otherwise. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: isPod,
  mutate({ object }) {
    const spec = (object as KubeObject).spec;
    const tolerations = items(spec.tolerations);
    for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
      const covered = tolerations.some((t) => (!t.key || t.key === key) && (!t.effect || t.effect === 'NoExecute'));
      if (covered) continue;
      const added = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
      spec.tolerations = [...items(spec.tolerations), added];
    }
  },
};

const CLASSES = 'scheduling.k8s.io/priorityclasses';

function defaultPriorityClass(store: AdmissionAttributes['store']): KubeObject | undefined {
  const defaults = listObjects(store, CLASSES).filter((c) => c.globalDefault);
  return [...defaults].sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0];
}

function admitPriority(attributes: AdmissionAttributes): void {
  const spec = attributes.object?.spec;
  const old = attributes.old?.spec;
  if (attributes.operation === 'UPDATE') {
    if (spec.priority == null && old?.priority != null) spec.priority = old.priority;
    if (spec.preemptionPolicy == null && old?.preemptionPolicy != null) spec.preemptionPolicy = old.preemptionPolicy;
    return;
  }
  let found: KubeObject | undefined;
  if (spec.priorityClassName) {
    found = attributes.store.get({ resource: CLASSES, namespace: '', name: spec.priorityClassName })?.object();
    if (!found) throw refuse(attributes, `no PriorityClass with name ${spec.priorityClassName} was found`);
  } else {
    found = defaultPriorityClass(attributes.store);
    if (found) spec.priorityClassName = found.metadata.name;
  }
  const priority = found?.value ?? 0;
  if (spec.priority != null && spec.priority !== priority) {
    const text = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`;
    throw refuse(attributes, text);
  }
  spec.priority = priority;
  const policy = found ? (found.preemptionPolicy ?? 'PreemptLowerPriority') : 'PreemptLowerPriority';
  if (spec.preemptionPolicy != null && spec.preemptionPolicy !== policy) {
    const text = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
    throw refuse(attributes, text);
  }
  spec.preemptionPolicy = policy;
}

export const priority: AdmissionPlugin = {
  name: 'Priority',
  handles: (attributes) =>
    isPod(attributes) || (isResource(attributes, 'scheduling.k8s.io', 'priorityclasses') && Boolean(attributes.object)),
  mutate(attributes) {
    if (attributes.resource.plural === 'pods') admitPriority(attributes);
  },
  validate(attributes) {
    if (attributes.resource.plural === 'pods' || !attributes.object?.globalDefault) return;
    const other = defaultPriorityClass(attributes.store);
    if (!other || (attributes.operation === 'UPDATE' && other.metadata.name === attributes.object.metadata.name))
      return;
    const text = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
    throw refuse(attributes, text);
  },
};

export const runtimeClass: AdmissionPlugin = {
  name: 'RuntimeClass',
  handles: (attributes) => attributes.operation === 'CREATE' && isResource(attributes, '', 'pods'),
  mutate(attributes) {
    const spec = attributes.object?.spec;
    const name = spec.runtimeClassName;
    if (name == null) {
      if (Object.keys(spec.overhead ?? {}).length) {
        throw refuse(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
      return;
    }
    const found = attributes.store.get({ resource: 'node.k8s.io/runtimeclasses', namespace: '', name })?.object();
    if (!found) throw refuse(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
    if (found.overhead) {
      if (Object.keys(spec.overhead ?? {}).length && !same(found.overhead.podFixed, spec.overhead)) {
        throw refuse(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      }
      spec.overhead = clone(found.overhead.podFixed);
    }
    const { nodeSelector = {}, tolerations = [] } = found.scheduling ?? {};
    for (const [key, value] of Object.entries(nodeSelector)) {
      const own = spec.nodeSelector?.[key];
      if (own !== undefined && own !== value) {
        const text = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`;
        throw refuse(attributes, text);
      }
      spec.nodeSelector = { ...spec.nodeSelector, [key]: value };
    }
    for (const toleration of items(tolerations)) {
      if (items(spec.tolerations).some((own) => same(own, toleration))) continue;
      spec.tolerations = [...items(spec.tolerations), clone(toleration)];
    }
  },
};

/** A new node takes no pods until a controller has seen it ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  handles: (attributes) => attributes.operation === 'CREATE' && isResource(attributes, '', 'nodes'),
  mutate({ object }) {
    const node = object as KubeObject;
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const taints = items(node.spec?.taints);
    if (taints.some((t) => t.key === taint.key && t.effect === taint.effect)) return;
    node.spec = { ...node.spec, taints: [...taints, taint] };
  },
};

/** What the server does with a pod besides defaults and checks (pkg/registry/core/pod/strategy.go). */
import { rfc3339 } from '../../../clock.ts';
import type { WriteContext } from '../../resource.ts';
import { immutable } from '../checks.ts';
import { type Any, assign, clone, items } from '../fields.ts';
import type { KindRules } from '../kind.ts';
import { dns1123Label } from '../names.ts';
import { defaultPod } from './defaults.ts';
import { qosClass } from './qos.ts';
import { validateEphemeralContainersUpdate, validatePodUpdate } from './update-validation.ts';
import { validatePod, validatePodOnly } from './validation.ts';

function prepareCreate(pod: Any, context: WriteContext): void {
  // Limits count as requests, also when nobody has filled in defaults yet.
  defaultPod(pod);
  pod.status = { phase: 'Pending', qosClass: qosClass(pod.spec) };
  if (items(pod.spec?.schedulingGates).length) {
    pod.status.conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: rfc3339(context.now),
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ];
  }
}

/** Each subresource may change one part of a pod; the rest stays as it was. */
function prepareSubresource(subresource: string, pod: Any, old: Any): void {
  if (subresource === 'status') {
    if (!pod.status) pod.status = {};
    if (!pod.status.qosClass && old.status?.qosClass) pod.status.qosClass = old.status.qosClass;
    keepObservedGenerations(pod.status, old.status ?? {});
  } else if (subresource === 'ephemeralcontainers') {
    const ephemeral = pod.spec?.ephemeralContainers;
    restore(pod, old);
    assign(pod.spec, 'ephemeralContainers', ephemeral);
  } else if (subresource === 'resize') {
    const wanted = new Map(
      [...items(pod.spec?.containers), ...items(pod.spec?.initContainers)].map((c) => [c.name, c]),
    );
    restore(pod, old);
    for (const container of [...items(pod.spec?.containers), ...items(pod.spec?.initContainers)]) {
      const from = wanted.get(container.name);
      if (!from) continue;
      assign(container, 'resources', from.resources);
      assign(container, 'resizePolicy', from.resizePolicy);
    }
  }
}

function restore(pod: Any, old: Any): void {
  pod.spec = clone(old.spec);
  assign(pod, 'status', clone(old.status));
}

/** A client that does not know `observedGeneration` must not erase it. */
function keepObservedGenerations(status: Any, old: Any): void {
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration;
  const before = new Map<string, number[]>();
  for (const condition of items(old.conditions)) {
    const list = before.get(condition.type) ?? [];
    list.push(condition.observedGeneration ?? 0);
    before.set(condition.type, list);
  }
  for (const condition of items(status.conditions)) {
    const generation = before.get(condition.type)?.shift() ?? 0;
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation;
  }
}

function warnings(pod: Any, old?: Any): string[] {
  if (old) return [];
  const texts = dns1123Label(pod.metadata.name ?? '');
  if (texts.length === 0) return [];
  return [
    `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${texts.join(' ')}]`,
  ];
}

/** Unscheduled and finished pods go at once; everything else gets what was asked for, or its own period. */
function gracePeriod(pod: Any, requested: number | undefined): number {
  const period = requested ?? pod.spec?.terminationGracePeriodSeconds ?? 0;
  if (!pod.spec?.nodeName || pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') return 0;
  return period < 0 ? 1 : period;
}

export const podRules: KindRules = {
  generation: true,
  status: {},
  statusKeeps: ['ownerReferences'],
  defaults: defaultPod,
  prepareCreate,
  prepareSubresource,
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  validateSubresource: {
    status: (pod, old) => immutable(pod.status?.qosClass, old.status?.qosClass, 'status.qosClass'),
    binding: () => [],
    ephemeralcontainers: validateEphemeralContainersUpdate,
    resize: (pod) => validatePodOnly(pod),
  },
  warnings,
  gracePeriod,
};

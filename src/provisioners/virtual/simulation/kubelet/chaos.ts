/**
 * Pods that fail because a label of kwok's chaos stages asks for it: `pod-container-running-failed.stage.kwok.x-k8s.io: "true"`, or the same
 * for init containers. Annotations of that stage say when, which container, and what it leaves: `…/delay`, `…/jitter-delay`,
 * `…/container-name`, `…/exit-code`, `…/reason`, `…/message`.
 */
import type { KubeObject } from '../../../../api/object.ts';
import { left } from '../deadlines.ts';
import type { World } from '../world.ts';
import { ended } from './container.ts';
import { conditionsOf } from './pod-status.ts';
import { delayOf, isContainerMeant, isStageAsked, stageAnnotation } from './stage.ts';

// biome-ignore lint/suspicious/noExplicitAny: container statuses, checked by the server's schema
type Any = any;

const MAIN = 'pod-container-running-failed';
const INIT = 'pod-init-container-running-failed';
const DEFAULTS = {
  [MAIN]: { reason: 'containerFailed', message: 'container failed' },
  [INIT]: { reason: 'initContainerError', message: 'initContainer reported errors' },
};
const KILLED = 137;

/** Milliseconds until it fails; undefined for a pod that nobody wants to fail now. */
export function leftToFail(world: World, pod: KubeObject): number | undefined {
  const stage = stageOf(pod);
  if (!stage) return undefined;
  const since = stage === INIT ? pod.status?.startTime : runningSince(pod);
  return since && left(world, `${pod.metadata.uid}/${stage}`, since, delayOf(pod, stage));
}

/** The status of a pod that has failed so. Its other containers are killed. */
export function failedStatus(world: World, pod: KubeObject): Any {
  const stage = stageOf(pod) ?? MAIN;
  const asked = (name: string) => stageAnnotation(pod, stage, name);
  const why = {
    reason: asked('reason') || DEFAULTS[stage].reason,
    message: asked('message') || DEFAULTS[stage].message,
  };
  const failed = (status: Any) => {
    const struck = ended(status, Number(asked('exit-code')) || 1, world.timestamp);
    return { ...struck, state: { terminated: { ...struck.state.terminated, ...why } } };
  };
  const { initContainerStatuses: init = [], containerStatuses: main = [] } = pod.status ?? {};
  const meant = (status: Any) => isContainerMeant(pod, stage, status.name);
  const strike = (status: Any) =>
    meant(status) ? failed(status) : status.state?.running ? ended(status, KILLED, world.timestamp) : status;
  const statuses = stage === INIT ? { init: init.map(strike), main } : { init, main: main.map(strike) };
  return {
    ...pod.status,
    phase: 'Failed',
    conditions: conditionsOf(pod, 'Failed', statuses, false, world.timestamp),
    ...(init.length > 0 ? { initContainerStatuses: statuses.init } : {}),
    containerStatuses: statuses.main,
    observedGeneration: pod.metadata.generation,
  };
}

function stageOf(pod: KubeObject): typeof MAIN | typeof INIT | undefined {
  const phase = pod.status?.phase;
  if (phase === 'Running' && isStageAsked(pod, MAIN)) return MAIN;
  return phase === 'Pending' && pod.spec.initContainers?.length && isStageAsked(pod, INIT) ? INIT : undefined;
}

function runningSince(pod: KubeObject): string | undefined {
  const starts = (pod.status?.containerStatuses ?? []).flatMap((status: Any) => status.state?.running?.startedAt ?? []);
  return starts.sort()[0];
}

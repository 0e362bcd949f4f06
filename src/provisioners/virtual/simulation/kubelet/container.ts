/** One container's state and what it becomes next: waiting, running, ended, started again with growing pauses. */
import type { KubeObject } from '../../../../api/object.ts';
import { left } from '../deadlines.ts';
import type { World } from '../world.ts';
import { fullImage, imageProblem, pullFailure } from './image.ts';
import { type Outcome, outcomeOf } from './process.ts';
import { delayOf, isContainerMeant, isStageAsked } from './stage.ts';

// biome-ignore lint/suspicious/noExplicitAny: container specs and statuses, checked by the server's schema
type Any = any;

export interface Next {
  status: Any;
  /** Look again after this long. */
  waitMs?: number;
  events: { type: 'Normal' | 'Warning'; reason: string; message: string }[];
}

export interface Scene {
  world: World;
  pod: KubeObject;
  /** Why it may not start yet. */
  held?: string;
  /** A ConfigMap or Secret that its environment needs and that is not there. */
  missing?: string;
  /** Ends by itself and is not started again, like init containers. */
  once?: boolean;
}

const FIRST_BACKOFF_MS = 10_000;
const LAST_BACKOFF_MS = 300_000;

export function nextState(container: Any, known: Any, scene: Scene): Next {
  const { state = {} } = known ?? {};
  const problem = imageProblem(container.image);
  if (scene.held && !state.running && !state.terminated) return waiting(container, known, scene.held);
  if (state.running) return whileRunning(container, known, scene);
  if (state.terminated) return afterEnd(container, known, scene);
  if (problem) return pulling(container, known, problem);
  if (scene.missing) {
    const next = waiting(container, known, 'CreateContainerConfigError', scene.missing);
    if (state.waiting?.message !== scene.missing) {
      next.events.push({ type: 'Warning', reason: 'Failed', message: `Error: ${scene.missing}` });
    }
    return next;
  }
  if (state.waiting?.reason === 'CrashLoopBackOff') {
    const ended = known.lastState?.terminated?.finishedAt;
    const wait = left(scene.world, '', ended, backoff(known.restartCount ?? 0));
    if (wait > 0) return { status: known, waitMs: wait, events: [] };
    return started(container, known, scene, (known.restartCount ?? 0) + 1);
  }
  return started(container, known, scene, known?.restartCount ?? 0);
}

function waiting(container: Any, known: Any, reason: string, message?: string): Next {
  const status = {
    ...base(container, known),
    state: { waiting: { reason, ...(message ? { message } : {}) } },
    ready: false,
    started: false,
  };
  return { status, events: [] };
}

function base(container: Any, known: Any) {
  const { name, image } = container;
  return {
    name,
    image,
    imageID: '',
    lastState: {},
    restartCount: 0,
    ...dropUndefined({ lastState: known?.lastState, restartCount: known?.restartCount }),
  };
}

function dropUndefined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}

function pulling(container: Any, known: Any, problem: string): Next {
  const { image } = container;
  const reason = known?.state?.waiting?.reason;
  if (problem === 'InvalidImageName') {
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
    const next = waiting(container, known, problem, message);
    if (reason !== problem) next.events.push({ type: 'Warning', reason: 'InspectFailed', message });
    return next;
  }
  const failure = pullFailure(image);
  if (reason === 'ErrImagePull' || reason === 'ImagePullBackOff') {
    const message = `Back-off pulling image "${image}": ErrImagePull: ${failure}`;
    const next = waiting(container, known, 'ImagePullBackOff', message);
    if (reason === 'ErrImagePull') {
      next.events.push({ type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${image}"` });
      next.events.push({ type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' });
    }
    return next;
  }
  const next = waiting(container, known, 'ErrImagePull', failure);
  next.events.push({ type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` });
  next.events.push({ type: 'Warning', reason: 'Failed', message: `Failed to pull image "${image}": ${failure}` });
  next.events.push({ type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' });
  return { ...next, waitMs: 1000 };
}

function started(container: Any, known: Any, scene: Scene, restartCount: number): Next {
  const { world } = scene;
  const { image } = container;
  const status = {
    ...base(container, known),
    image: fullImage(image),
    imageID: `${fullImage(image).replace(/[:@][^/]*$/, '')}@sha256:${'0'.repeat(64)}`,
    containerID: `simulated://${world.context.random.bytes(16).toString('hex')}`,
    restartCount,
    state: { running: { startedAt: world.timestamp } },
    started: true,
    ready: false,
    ...(container.resources?.requests ? { allocatedResources: container.resources.requests } : {}),
    ...(container.resources && Object.keys(container.resources).length ? { resources: container.resources } : {}),
  };
  const present = `Container image "${image}" already present on machine and can be accessed by the pod`;
  const next = settled(container, status, scene);
  next.events.push(
    { type: 'Normal', reason: 'Pulled', message: present },
    { type: 'Normal', reason: 'Created', message: 'Container created' },
    { type: 'Normal', reason: 'Started', message: 'Container started' },
  );
  return next;
}

/** Running: ended by its own command, not ready before its probe may ask, ready. */
function settled(container: Any, status: Any, scene: Scene): Next {
  const { world, pod, once } = scene;
  const { startedAt } = status.state.running;
  const key = `${pod.metadata.uid}/${container.name}`;
  const outcome = once ? initOutcome(pod, container) : outcomeOf(pod, container);
  const toEnd = outcome && left(world, `${key}/end`, startedAt, outcome.afterMs);
  if (outcome && toEnd === 0) return { status: ended(status, outcome.exitCode, world.timestamp), events: [] };
  const toReady = left(world, key, startedAt, (container.readinessProbe?.initialDelaySeconds ?? 0) * 1000);
  const waits = [toEnd, toReady || undefined].filter((wait): wait is number => wait !== undefined);
  return {
    status: { ...status, ready: toReady === 0, started: true },
    ...(waits.length ? { waitMs: Math.min(...waits) } : {}),
    events: [],
  };
}

function initOutcome(pod: KubeObject, container: Any): Outcome | undefined {
  // One that shall fail does not end well before.
  const doom = 'pod-init-container-running-failed';
  if (isStageAsked(pod, doom) && isContainerMeant(pod, doom, container.name)) return undefined;
  return outcomeOf(pod, container) ?? { afterMs: delayOf(pod, 'pod-init-container-completed'), exitCode: 0 };
}

export function ended(status: Any, exitCode: number, finishedAt: string): Any {
  const { startedAt = finishedAt } = status.state?.running ?? {};
  const terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt,
    finishedAt,
    ...(status.containerID ? { containerID: status.containerID } : {}),
  };
  return { ...status, state: { terminated }, ready: false, started: false };
}

function whileRunning(container: Any, known: Any, scene: Scene): Next {
  // `kubectl set image pod/…`: the old container ends, one with the new image starts.
  if (known.image !== fullImage(container.image) && !imageProblem(container.image)) {
    const old = ended(known, 0, scene.world.timestamp);
    const next = started(container, { ...known, lastState: old.state }, scene, (known.restartCount ?? 0) + 1);
    const message = `Container ${container.name} definition changed, will be restarted`;
    next.events.unshift({ type: 'Normal', reason: 'Killing', message });
    return next;
  }
  return settled(container, known, scene);
}

function afterEnd(container: Any, known: Any, scene: Scene): Next {
  const { exitCode, finishedAt } = known.state.terminated;
  const policy = scene.pod.spec.restartPolicy ?? 'Always';
  const again = exitCode !== 0 ? policy !== 'Never' : policy === 'Always' && !scene.once;
  if (!again) return { status: known, events: [] };
  const restarts = known.restartCount ?? 0;
  const before = { ...known, lastState: known.state };
  if (restarts === 0) return started(container, before, scene, 1);
  const wait = left(scene.world, '', finishedAt, backoff(restarts));
  const { name, namespace, uid } = scene.pod.metadata;
  const seconds = backoff(restarts) / 1000;
  const pause = seconds >= 60 ? `${Math.floor(seconds / 60)}m${seconds % 60}s` : `${seconds}s`;
  const message = `back-off ${pause} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
  const next = waiting(container, before, 'CrashLoopBackOff', message);
  next.events.push({
    type: 'Warning',
    reason: 'BackOff',
    message: `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`,
  });
  // What it ran stays known while it waits.
  Object.assign(next.status, { image: known.image, imageID: known.imageID, containerID: known.containerID });
  return { ...next, waitMs: Math.max(wait, 1) };
}

function backoff(restarts: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, restarts - 1), LAST_BACKOFF_MS);
}

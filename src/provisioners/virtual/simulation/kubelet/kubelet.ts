/**
 * The kubelets of all simulated nodes. Each pod is moved one step at a time from what its status says to what comes
 * next; the only memory is the status itself.
 */
import type { KubeObject } from '../../../../api/object.ts';
import { type Controller, itself, keyOf } from '../controller.ts';
import { left } from '../deadlines.ts';
import { internalIp, isNodeReady, isSimulated } from '../nodes/simulated-node.ts';
import { isDeleting, isFinished, NODES, PODS } from '../pod.ts';
import type { World } from '../world.ts';
import { type Rejection, rejection } from './admission.ts';
import { failedStatus, leftToFail } from './chaos.ts';
import { ended, type Next, nextState } from './container.ts';
import { missingEnvironment, missingVolume } from './needs.ts';
import { podIp } from './pod-network.ts';
import { conditionsOf, initDone, phaseOf } from './pod-status.ts';
import { delayOf, startDelayOf } from './stage.ts';

// biome-ignore lint/suspicious/noExplicitAny: container specs and statuses, checked by the server's schema
type Any = any;

export const COMPONENT = 'kubelet';

export const kubelet: Controller = {
  name: COMPONENT,
  // Few at a time: each takes milliseconds, and others want their turn.
  concurrency: 4,
  on: {
    [PODS]: function* (change) {
      // Pods without a node are nobody's yet.
      if (change.current?.object().spec.nodeName) yield* itself(change, undefined as never);
    },
    // A node that comes back goes on where it stopped.
    [NODES]: function* ({ current, previous }, world) {
      if (!current || (previous && isNodeReady(previous.object()) === isNodeReady(current.object()))) return;
      for (const pod of world.cache.podsOn(current.key.name)) yield keyOf(pod.metadata);
    },
    '/configmaps': waitingPods,
    '/secrets': waitingPods,
    '/persistentvolumeclaims': waitingPods,
  },
  async reconcile(world, namespace, name, again) {
    const pod = world.cache.get(PODS, namespace, name);
    const node = pod && world.cache.get(NODES, '', pod.spec.nodeName ?? '');
    if (!pod || !node || !isSimulated(node) || !isNodeReady(node)) return;
    if (isDeleting(pod)) return terminate(world, pod, again);
    if (isFinished(pod)) return;
    const wait = await advance(world, pod, node);
    if (wait !== undefined) again(wait);
  },
};

/** Something appeared that pods may be waiting for. */
function* waitingPods(
  { current, previous }: { current?: { key: { namespace: string } }; previous?: unknown },
  world: World,
) {
  if (!current || (previous && (current as { key: { resource?: string } }).key.resource !== '/persistentvolumeclaims'))
    return;
  for (const pod of world.cache.list(PODS, current.key.namespace)) {
    if (pod.spec.nodeName && pod.status?.phase === 'Pending') yield keyOf(pod.metadata);
  }
}

/** Whoever makes a rejected pod again and again does so once a second, not as fast as it can. */
const REJECT_AFTER_MS = 1000;

async function advance(world: World, pod: KubeObject, node: KubeObject): Promise<number | undefined> {
  const { uid } = pod.metadata;
  const refused = pod.status?.startTime ? undefined : rejection(world, pod, node);
  if (refused) return reject(world, pod, refused);
  const expiry = pod.spec.activeDeadlineSeconds;
  const started = pod.status?.startTime;
  const alive = expiry === undefined || !started ? undefined : left(world, '', started, expiry * 1000);
  if (alive === 0) return void (await expire(world, pod));
  const toFail = leftToFail(world, pod);
  if (toFail === 0) return void (await world.updateStatus(PODS, pod, failedStatus(world, pod), COMPONENT));
  const toStart = started ? left(world, `${uid}`, started, startDelayOf(pod)) : startDelayOf(pod);
  const lacking = started && toStart === 0 && !pod.status?.podIP ? missingVolume(world, pod) : undefined;
  const sandbox = Boolean(pod.status?.podIP) || (Boolean(started) && toStart === 0 && !lacking);
  const { init, main, waits, say } = containersOf(world, pod, sandbox);
  const phase = phaseOf(pod, { init, main });
  const hostIP = internalIp(node);
  const ip = sandbox ? podIp(world, pod, node) : undefined;
  const status = {
    ...pod.status,
    observedGeneration: pod.metadata.generation,
    phase,
    conditions: conditionsOf(pod, phase, { init, main }, sandbox, world.timestamp),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(ip ? { podIP: ip, podIPs: [{ ip }] } : {}),
    startTime: started ?? world.timestamp,
    ...(init.length ? { initContainerStatuses: init } : {}),
    containerStatuses: main,
    ...ephemeral(world, pod),
  };
  delete status.nominatedNodeName;
  await world.updateStatus(PODS, pod, status, COMPONENT);
  for (const event of say)
    world.recorder.record({ about: pod, host: pod.spec.nodeName, component: COMPONENT, ...event });
  if (lacking) report(world, pod, 'Warning', 'FailedMount', lacking);
  const all = [
    ...waits,
    ...(toStart > 0 ? [toStart] : []),
    ...(alive === undefined ? [] : [alive]),
    ...(toFail ? [toFail] : []),
  ];
  return all.length ? Math.min(...all) : undefined;
}

type Said = Next['events'][number] & { fieldPath: string };

function containersOf(world: World, pod: KubeObject, sandbox: boolean) {
  const waits: number[] = [];
  const say: Said[] = [];
  const step = (spec: Any, known: Any, path: string, scene: { held?: string; once?: boolean }): Any => {
    const missing = scene.held ? undefined : missingEnvironment(world, pod, spec);
    const next = nextState(spec, known, { world, pod, missing, ...scene });
    if (next.waitMs !== undefined) waits.push(next.waitMs);
    for (const event of next.events) say.push({ ...event, fieldPath: `spec.${path}{${spec.name}}` });
    return next.status;
  };
  const known = (list: Any[] | undefined, name: string) => list?.find((status) => status.name === name);
  const init: Any[] = [];
  let before = true;
  for (const spec of pod.spec.initContainers ?? []) {
    const sidecar = spec.restartPolicy === 'Always';
    const held = sandbox && before ? undefined : 'PodInitializing';
    const status = step(spec, known(pod.status?.initContainerStatuses, spec.name), 'initContainers', {
      held,
      once: !sidecar,
    });
    init.push(!sidecar && status.state?.terminated?.exitCode === 0 ? { ...status, ready: true } : status);
    before &&= sidecar ? Boolean(status.state?.running) : status.state?.terminated?.exitCode === 0;
  }
  const waiting = pod.spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
  const held = sandbox && initDone(pod, init) ? undefined : waiting;
  const main = (pod.spec.containers ?? []).map((spec: Any) =>
    step(spec, known(pod.status?.containerStatuses, spec.name), 'containers', { held }),
  );
  return { init, main, waits, say };
}

function ephemeral(world: World, pod: KubeObject) {
  const specs: Any[] = pod.spec.ephemeralContainers ?? [];
  if (specs.length === 0) return {};
  const known: Any[] = pod.status?.ephemeralContainerStatuses ?? [];
  const ephemeralContainerStatuses = specs.map(({ name, image }) => {
    const state = { running: { startedAt: world.timestamp } };
    return (
      known.find((s) => s.name === name) ?? {
        name,
        image,
        imageID: '',
        lastState: {},
        ready: false,
        restartCount: 0,
        state,
      }
    );
  });
  return { ephemeralContainerStatuses };
}

async function reject(world: World, pod: KubeObject, why: Rejection): Promise<number | undefined> {
  const wait = left(world, '', pod.metadata.creationTimestamp ?? undefined, REJECT_AFTER_MS);
  if (wait > 0) return wait;
  const { generation: observedGeneration } = pod.metadata;
  const status = { ...pod.status, ...why, phase: 'Failed', startTime: world.timestamp, observedGeneration };
  await world.updateStatus(PODS, pod, status, COMPONENT);
  report(world, pod, 'Warning', why.reason, why.message.replace('Pod was rejected: ', ''));
  return undefined;
}

/** activeDeadlineSeconds is over. */
async function expire(world: World, pod: KubeObject): Promise<void> {
  const message = 'Pod was active on the node longer than the specified deadline';
  await stop(world, pod, { reason: 'DeadlineExceeded', message });
  report(world, pod, 'Normal', 'DeadlineExceeded', message);
}

/** All containers killed; the pod has failed. */
async function stop(
  world: World,
  pod: KubeObject,
  why: { reason?: string; message?: string } = {},
): Promise<KubeObject> {
  const kill = (statuses: Any[] | undefined) =>
    statuses?.map((status) => (status.state?.terminated ? status : ended(status, 137, world.timestamp)));
  const main = kill(pod.status?.containerStatuses) ?? [];
  const init = pod.status?.initContainerStatuses ?? [];
  const conditions = conditionsOf(pod, 'Failed', { init, main }, false, world.timestamp);
  const status = {
    ...pod.status,
    ...why,
    phase: 'Failed',
    conditions,
    containerStatuses: main,
    observedGeneration: pod.metadata.generation,
  };
  return world.updateStatus(PODS, pod, status, COMPONENT);
}

async function terminate(world: World, pod: KubeObject, again: (ms: number) => void): Promise<void> {
  const { uid, deletionGracePeriodSeconds: grace = 0, deletionTimestamp } = pod.metadata;
  const asked = new Date(Date.parse(deletionTimestamp ?? world.timestamp) - grace * 1000).toISOString();
  const delay = isFinished(pod) ? 0 : Math.min(grace * 1000, delayOf(pod, 'pod-delete'));
  const wait = left(world, `${uid}/delete`, asked, delay);
  if (wait > 0) return again(wait);
  // Whoever holds the pod by a finalizer (a Job) wants to know how it ended.
  const last = pod.metadata.finalizers?.length && !isFinished(pod) ? await stop(world, pod) : pod;
  if ((last.metadata.deletionGracePeriodSeconds ?? 0) === 0 && last.metadata.finalizers?.length) return;
  for (const { name } of pod.spec.containers) {
    report(world, pod, 'Normal', 'Killing', `Stopping container ${name}`);
  }
  await world.remove(PODS, last, { gracePeriodSeconds: 0 });
}

function report(world: World, about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
  world.recorder.record({ about, type, reason, message, component: COMPONENT, host: about.spec.nodeName });
}

/** Why the control plane of a vcluster does not run yet: what its pod, its volume and the events of its host say. */
import type { KubeObject } from '../../api/object.ts';
import type { ObjectStore } from '../../kube/index.ts';
import * as host from './host-resources.ts';
import { selectorOf } from './objects.ts';

export interface Diagnosis {
  /** Nothing will change until somebody does something, though it is tried again. */
  isStuck: boolean;
  reason: string;
  message: string;
  /** What it said last. */
  output?: string[];
  next?: string;
}

interface ContainerStatus {
  name: string;
  restartCount?: number;
  state?: { waiting?: Waiting; running?: object; terminated?: Terminated };
  lastState?: { terminated?: Terminated };
}
interface Waiting {
  reason?: string;
  message?: string;
}
interface Terminated {
  reason?: string;
  message?: string;
  exitCode?: number;
}

const SCHEDULING_MS = 15_000;
/** What keeps a pod from starting before its containers have a say. */
const MOUNT = /^Failed(Mount|AttachVolume|CreatePodSandBox)/;

export const ownPods = async (store: ObjectStore, name: string, namespace: string, signal?: AbortSignal) => {
  const { items } = await store.list(host.pods, { namespace, labelSelector: labelText(selectorOf(name)), signal });
  return items;
};

export const labelText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

export const isPodReady = (pod: KubeObject | undefined): boolean =>
  (pod?.status?.conditions ?? []).some(
    (c: { type: string; status: string }) => c.type === 'Ready' && c.status === 'True',
  );

export async function diagnose(
  store: ObjectStore,
  place: { name: string; namespace: string },
  { pod, ageMs }: { pod: KubeObject | undefined; ageMs: number },
  signal?: AbortSignal,
): Promise<Diagnosis> {
  const { name } = place;
  if (!pod) {
    const refusal = await lastWarning(store, place, 'StatefulSet', name, signal);
    return refusal
      ? stuck(refusal.includes('quota') ? 'QuotaExceeded' : 'PodRefused', `the host makes no pod: ${refusal}`)
      : waiting('CreatingPod', 'the host has not made the pod yet');
  }
  const trouble = containerTrouble(pod);
  if (trouble) return trouble;
  const scheduled = condition(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    const volume = await volumeTrouble(store, place, signal);
    const why = volume ?? stuck('Unschedulable', `no node of the host takes the pod: ${scheduled.message ?? ''}`);
    // While the volume is made, scheduling fails a few times by itself.
    return ageMs < SCHEDULING_MS ? { ...why, isStuck: false } : why;
  }
  const { init, main } = statuses(pod);
  if (init.some((status) => status.state?.running)) return waiting('CopyingBinaries', 'Kubernetes is being unpacked');
  if (main.some((status) => status.state?.running)) return waiting('Starting', 'the control plane starts');
  const mount = await lastWarning(store, place, 'Pod', pod.metadata.name as string, signal, MOUNT);
  const why = mount ? `: ${mount}` : '';
  return waiting('StartingPod', `the pod ${pod.metadata.name} is ${pod.status?.phase ?? 'new'}${why}`);
}

function containerTrouble(pod: KubeObject): Diagnosis | undefined {
  const { init, main } = statuses(pod);
  for (const status of [...init, ...main]) {
    const { reason = '', message = '' } = status.state?.waiting ?? {};
    if (/ImagePull|ErrImage|InvalidImageName/.test(reason)) {
      return stuck('ImagePullFailed', `the host cannot pull an image (${reason}): ${message}`, {
        next: 'make the image available to the nodes, or set spec.images; the host tries again by itself',
      });
    }
    if (/CreateContainer|RunContainerError/.test(reason)) {
      return stuck('ContainerRefused', `the container ${status.name} cannot be made: ${message}`);
    }
    const ended = status.lastState?.terminated ?? status.state?.terminated;
    if (reason === 'CrashLoopBackOff' || (ended && (ended.exitCode ?? 0) !== 0)) {
      const output = lastLines(ended?.message);
      const how = ended?.reason === 'OOMKilled' ? 'ran out of memory' : `ended with ${ended?.exitCode ?? 'an error'}`;
      const last = output.at(-1) ? `: ${output.at(-1)}` : '';
      return stuck('CrashLoopBackOff', `${status.name} ${how} (${status.restartCount ?? 0} restarts)${last}`, {
        output,
      });
    }
  }
  return undefined;
}

async function volumeTrouble(
  store: ObjectStore,
  { name, namespace }: { name: string; namespace: string },
  signal?: AbortSignal,
): Promise<Diagnosis | undefined> {
  const key = { namespace, name: `data-${name}-0` };
  const claim = await store.get(host.claims, key, { signal }).catch(() => undefined);
  if (claim?.status?.phase !== 'Pending') return undefined;
  const wanted = claim.spec?.storageClassName;
  if (!wanted) {
    return stuck('NoStorageClass', `the volume claim ${key.name} has no storage class: the host has no default one`, {
      next: 'mark a StorageClass of the host as default, or set persistence.storageClassName in a new cluster',
    });
  }
  const warning = await lastWarning(store, { namespace }, 'PersistentVolumeClaim', key.name, signal);
  const known = await store.get(host.storageClasses, { name: wanted }, { signal }).catch(() => undefined);
  if (known && !warning) return waiting('WaitingForVolume', `the volume claim ${key.name} is being bound`);
  const why = warning ?? `there is no StorageClass ${wanted}`;
  return stuck('VolumePending', `the volume claim ${key.name} is not bound: ${why}`);
}

/** Events are a courtesy: who may not read them gets a shorter answer. */
async function lastWarning(
  store: ObjectStore,
  { namespace }: { namespace: string },
  kind: string,
  name: string,
  signal?: AbortSignal,
  about = /./,
): Promise<string | undefined> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name},type=Warning`;
  const found = await store.list(host.events, { namespace, fieldSelector, signal }).catch(() => undefined);
  const at = (event: KubeObject) => String(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp);
  const fitting = found?.items.filter((event) => about.test(event.reason)) ?? [];
  return fitting.sort((a, b) => at(a).localeCompare(at(b))).at(-1)?.message;
}

const statuses = (pod: KubeObject): { init: ContainerStatus[]; main: ContainerStatus[] } => ({
  init: pod.status?.initContainerStatuses ?? [],
  main: pod.status?.containerStatuses ?? [],
});

const condition = (pod: KubeObject, type: string): { status: string; message?: string } | undefined =>
  (pod.status?.conditions ?? []).find((entry: { type: string }) => entry.type === type);

const lastLines = (text = ''): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().slice(0, 300))
    .filter(Boolean)
    .slice(-5);

const waiting = (reason: string, message: string): Diagnosis => ({ isStuck: false, reason, message });
const stuck = (reason: string, message: string, more: Partial<Diagnosis> = {}): Diagnosis => ({
  isStuck: true,
  reason,
  message,
  ...more,
});

/** A pod's phase and conditions, from the states of its containers (pkg/kubelet/status/generate.go). */
import type { KubeObject } from '../../../../api/object.ts';
import type { PodCondition } from '../pod.ts';

// biome-ignore lint/suspicious/noExplicitAny: container specs and statuses, checked by the server's schema
type Any = any;

export interface Containers {
  init: Any[];
  main: Any[];
}

/** Init containers are through: ended well, or running beside the others for good. */
export function initDone(pod: KubeObject, init: Any[]): boolean {
  return (pod.spec.initContainers ?? []).every((spec: Any, index: number) => {
    const { state } = init[index] ?? {};
    return spec.restartPolicy === 'Always' ? state?.running : state?.terminated?.exitCode === 0;
  });
}

export function phaseOf(pod: KubeObject, { init, main }: Containers): string {
  const policy = pod.spec.restartPolicy ?? 'Always';
  if (!initDone(pod, init)) {
    const failed = init.some(({ state }) => state?.terminated && state.terminated.exitCode !== 0);
    return failed && policy === 'Never' ? 'Failed' : 'Pending';
  }
  const stopped = (status: Any) => status.state?.terminated ?? (status.state?.waiting && status.lastState?.terminated);
  if (main.some((status) => !status.state?.running && !stopped(status))) return 'Pending';
  if (main.some((status) => status.state?.running)) return 'Running';
  if (policy === 'Always') return 'Running';
  if (main.every((status) => stopped(status)?.exitCode === 0)) return 'Succeeded';
  return policy === 'Never' ? 'Failed' : 'Running';
}

/** In the order the kubelet writes them; a condition keeps its time while its status stays. */
export function conditionsOf(
  pod: KubeObject,
  phase: string,
  { init, main }: Containers,
  sandbox: boolean,
  now: string,
): PodCondition[] {
  const known: PodCondition[] = pod.status?.conditions ?? [];
  const observedGeneration = pod.metadata.generation;
  const make = (type: string, status: boolean, reason?: string, message?: string): PodCondition => {
    const text = status ? 'True' : 'False';
    const before = known.find((c) => c.type === type);
    return {
      type,
      status: text,
      ...(observedGeneration ? { observedGeneration } : {}),
      lastProbeTime: null,
      lastTransitionTime: before?.status === text ? before.lastTransitionTime : now,
      ...(reason ? { reason } : {}),
      ...(message ? { message } : {}),
    };
  };
  const unready = main.filter(({ ready }) => !ready).map(({ name }) => name);
  const waitingInit = init
    .filter(
      (s, i) =>
        !(pod.spec.initContainers?.[i]?.restartPolicy === 'Always'
          ? s.state?.running
          : s.state?.terminated?.exitCode === 0),
    )
    .map(({ name }) => name);
  const over = phase === 'Succeeded' ? 'PodCompleted' : phase === 'Failed' ? 'PodFailed' : undefined;
  const done = initDone(pod, init);
  const why = `containers with unready status: [${unready.join(' ')}]`;
  const ready = !over && unready.length === 0 && done;
  const gates = (pod.spec.readinessGates ?? [])
    .map(({ conditionType }: { conditionType: string }) => conditionType)
    .filter((type: string) => known.find((c) => c.type === type)?.status !== 'True');
  const conditions = [
    make('PodReadyToStartContainers', sandbox && !over),
    over === 'PodCompleted'
      ? make('Initialized', true, 'PodCompleted')
      : done
        ? make('Initialized', true)
        : make(
            'Initialized',
            false,
            'ContainersNotInitialized',
            `containers with incomplete status: [${waitingInit.join(' ')}]`,
          ),
    ready && gates.length
      ? make(
          'Ready',
          false,
          'ReadinessGatesNotReady',
          gates.map((g: string) => `corresponding condition of pod readiness gate "${g}" does not exist.`).join(', '),
        )
      : make('Ready', ready, ready ? undefined : (over ?? 'ContainersNotReady'), ready || over ? undefined : why),
    make('ContainersReady', ready, ready ? undefined : (over ?? 'ContainersNotReady'), ready || over ? undefined : why),
    make('PodScheduled', true),
  ];
  const ours = new Set(conditions.map(({ type }) => type));
  return [...conditions, ...known.filter((c) => !ours.has(c.type))];
}

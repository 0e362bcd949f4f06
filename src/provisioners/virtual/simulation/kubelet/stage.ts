/**
 * How long things take on a simulated node. kwok's stage annotations on the pod override it
 * (`pod-ready.stage.kwok.x-k8s.io/delay: 5s`, with `…/jitter-delay`), so manifests written for kwok keep their pace.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../../../api/object.ts';

export type Stage =
  | 'pod-create'
  | 'pod-init-container-running'
  | 'pod-init-container-completed'
  | 'pod-ready'
  | 'pod-complete'
  | 'pod-delete'
  | 'pod-container-running-failed'
  | 'pod-init-container-running-failed';

const DEFAULT_MS: Record<Stage, number> = {
  'pod-create': 0,
  'pod-init-container-running': 0,
  'pod-init-container-completed': 0,
  // Long enough to be seen as ContainerCreating by whoever watches, too short to wait for.
  'pod-ready': 100,
  'pod-complete': 500,
  // Long enough for whoever deletes gracefully to see it go.
  'pod-delete': 300,
  'pod-container-running-failed': 1000,
  'pod-init-container-running-failed': 1000,
};

/** With a jitter somewhere between the two, always the same for one pod: nothing but its status is remembered. */
export function delayOf(pod: KubeObject, stage: Stage): number {
  const asked = (name: string) => duration(stageAnnotation(pod, stage, name) ?? '');
  const delay = asked('delay') ?? DEFAULT_MS[stage];
  const jitter = asked('jitter-delay');
  if (jitter === undefined || jitter <= delay) return jitter ?? delay;
  return Math.floor(delay + fraction(`${pod.metadata.uid} ${stage}`) * (jitter - delay));
}

/** From its node's first look at the pod until its containers may start. */
export function startDelayOf(pod: KubeObject): number {
  const init: Stage[] = pod.spec.initContainers?.length ? ['pod-init-container-running'] : [];
  const stages: Stage[] = ['pod-create', ...init, 'pod-ready'];
  return stages.reduce((sum, stage) => sum + delayOf(pod, stage), 0);
}

export function stageAnnotation({ metadata }: KubeObject, stage: string, name: string): string | undefined {
  return metadata.annotations?.[`${stage}.stage.kwok.x-k8s.io/${name}`];
}

/** The labels by which kwok makes things fail. */
export function isStageAsked({ metadata }: KubeObject, stage: string): boolean {
  return metadata.labels?.[`${stage}.stage.kwok.x-k8s.io`] === 'true';
}

/** Without a name all of them are. */
export function isContainerMeant(pod: KubeObject, stage: string, container: string): boolean {
  const name = stageAnnotation(pod, stage, 'container-name');
  return !name || name === container;
}

/** In [0, 1). */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}

const UNITS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A Go duration in milliseconds. */
export function duration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(number) * (UNITS[unit as string] ?? 0);
  }
  return total;
}

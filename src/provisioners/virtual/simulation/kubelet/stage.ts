/**
 * How long things take on a simulated node. kwok's stage annotations on the pod override it
 * (`pod-ready.stage.kwok.x-k8s.io/delay: 5s`, with `…/jitter-delay`), so manifests written for kwok keep their pace.
 */
import type { KubeObject } from '../../../../api/object.ts';

export type Stage = 'pod-create' | 'pod-ready' | 'pod-complete' | 'pod-delete';

const DEFAULT_MS: Record<Stage, number> = {
  'pod-create': 0,
  // Long enough to be seen as ContainerCreating by whoever watches, too short to wait for.
  'pod-ready': 100,
  'pod-complete': 500,
  // Long enough for whoever deletes gracefully to see it go.
  'pod-delete': 300,
};

export function delayOf({ metadata }: KubeObject, stage: Stage): number {
  const text = metadata.annotations?.[`${stage}.stage.kwok.x-k8s.io/delay`];
  return (text === undefined ? undefined : duration(text)) ?? DEFAULT_MS[stage];
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

/** Completion indexes of Indexed Jobs, in the short form of the status: `0,2-4`. */
import type { KubeObject } from '../../../../api/object.ts';

export const INDEX = 'batch.kubernetes.io/job-completion-index';

export function readIndexes(text: string | undefined): Set<number> {
  const found = new Set<number>();
  for (const part of (text ?? '').split(',').filter(Boolean)) {
    const [from, to] = part.split('-').map(Number);
    for (let index = from as number; index <= (to ?? (from as number)); index++) found.add(index);
  }
  return found;
}

export function writeIndexes(indexes: Iterable<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; at++) {
    const from = sorted[at] as number;
    let to = from;
    while (sorted[at + 1] === to + 1) to = sorted[++at] as number;
    // Two in a row are still two: a range pays from three on.
    parts.push(to === from ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`);
  }
  return parts.join(',');
}

export function indexOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[INDEX] ?? -1);
}

/** Kubernetes quantities as numbers: `500m` of a CPU is 0.5, `512Mi` of memory 536870912. */
import { RookeryError } from '../errors.ts';

const SUFFIXES: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

export function quantityValue(text: string): number {
  const found = /^(\d+(?:\.\d*)?|\.\d+)([a-zA-Z]*)$/.exec(text);
  const factor = found && SUFFIXES[found[2] ?? ''];
  if (factor && Number(found[1]) > 0) return Number(found[1]) * factor;
  throw new RookeryError('workspace.quantity', `${JSON.stringify(text)} is no amount above zero`, {
    class: 'user',
    hint: 'write 500m or 2 for CPU, 512Mi or 1Gi for memory',
  });
}

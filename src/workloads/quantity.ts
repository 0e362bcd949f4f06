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
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

export function quantityValue(text: string): number {
  const [, amount = '', power, suffix = ''] = /^\+?(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+)|([a-zA-Z]*))$/.exec(text) ?? [];
  const factor = power === undefined ? SUFFIXES[suffix] : 10 ** Number(power);
  if (factor && Number(amount) > 0) return Number(amount) * factor;
  throw new RookeryError('workspace.quantity', `${JSON.stringify(text)} is no amount above zero`, {
    class: 'user',
    hint: 'write 500m or 2 for CPU, 512Mi or 1Gi for memory',
  });
}

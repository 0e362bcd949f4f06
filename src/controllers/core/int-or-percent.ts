/** Numbers that may be percentages, as `maxSurge` and its kin are. */
import { TerminalError } from '../../kube/index.ts';

export function scaled(value: number | string, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const [, percent] = /^(\d+)%$/.exec(value) ?? [];
  if (percent === undefined) throw new TerminalError(`${JSON.stringify(value)} is neither a number nor a percentage`);
  const part = (Number(percent) * total) / 100;
  return round === 'up' ? Math.ceil(part) : Math.floor(part);
}

export function isIntOrPercent(value: number | string): boolean {
  return typeof value === 'number' || /^\d+%$/.test(value);
}

/** The rows of a benchmark run: what was measured, beside what, against which goal; printed and stored. */

export interface Row {
  what: string;
  unit: string;
  ours: number | undefined;
  /** The same on kube-apiserver + etcd, where it can be measured there. */
  theirs?: number;
  goal?: Goal;
}

/** `ratio`: ours ÷ theirs. `value`: ours alone. */
export interface Goal {
  of: 'ratio' | 'value';
  at: 'most' | 'least';
  bound: number;
}

export const ratioAtMost = (bound: number): Goal => ({ of: 'ratio', at: 'most', bound });
export const ratioAtLeast = (bound: number): Goal => ({ of: 'ratio', at: 'least', bound });
export const atMost = (bound: number): Goal => ({ of: 'value', at: 'most', bound });

export function ratioOf({ ours, theirs }: Row): number | undefined {
  return ours === undefined || !theirs ? undefined : ours / theirs;
}

/** Undefined: no goal, or nothing to judge it by. */
export function isMet(row: Row): boolean | undefined {
  const measured = row.goal?.of === 'ratio' ? ratioOf(row) : row.ours;
  if (!row.goal || measured === undefined) return undefined;
  return row.goal.at === 'most' ? measured <= row.goal.bound : measured >= row.goal.bound;
}

export function toJson(row: Row): object {
  const ratio = ratioOf(row);
  return { ...row, ...(ratio === undefined ? {} : { ratio }), ...(row.goal ? { met: isMet(row) ?? null } : {}) };
}

/** `beside`: the heading of the second column; absent when nothing was measured there. */
export function printTable(rows: Row[], beside?: string): void {
  const head = ['', 'rookery', ...(beside ? [beside, 'ratio'] : []), 'goal', ''];
  const lines = rows.map((row) => [
    row.what,
    shown(row.ours, row.unit),
    ...(beside ? [shown(row.theirs, row.unit), ratioText(row)] : []),
    row.goal ? goalText(row.goal, row.unit) : '',
    verdict(row),
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((line) => (line[i] ?? '').length)));
  for (const line of [head, ...lines]) {
    console.log(
      line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    );
  }
}

function shown(value: number | undefined, unit: string): string {
  return value === undefined ? '-' : `${rounded(value)} ${unit}`;
}

function rounded(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function ratioText(row: Row): string {
  const ratio = ratioOf(row);
  return ratio === undefined ? '' : `${ratio.toFixed(2)}×`;
}

function goalText({ of, at, bound }: Goal, unit: string): string {
  return `${at === 'most' ? '≤' : '≥'} ${bound}${of === 'ratio' ? '×' : ` ${unit}`}`;
}

function verdict(row: Row): string {
  const met = isMet(row);
  return met === undefined ? '' : met ? 'met' : 'MISSED';
}

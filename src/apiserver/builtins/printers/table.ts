/**
 * The words printers are written in. A kind's columns are one string each: `Name`, `Desired:integer`, `+Node` (only
 * with `-o wide`), and one function gives the cells (pkg/printers/internalversion/printers.go, always wide).
 */
import type { KubeObject } from '../../../api/object.ts';
import type { Printer, PrinterColumn } from '../../resource.ts';
import { age } from '../duration.ts';
import { type Any, items } from '../fields.ts';

export type Cells = (object: Any, now: number) => unknown[];

export function printer(columns: string, cells: Cells): Printer {
  return { columns: parseColumns(columns), cells };
}

function parseColumns(text: string): PrinterColumn[] {
  return text.split('|').map((raw) => {
    const wide = raw.startsWith('+');
    const [name = '', type = 'string'] = (wide ? raw.slice(1) : raw).split(':');
    return {
      name,
      type,
      format: name === 'Name' ? 'name' : '',
      description: DESCRIPTIONS[name] ?? '',
      priority: wide ? 1 : 0,
    };
  });
}

const DESCRIPTIONS: Record<string, string> = {
  Name: 'Name of the object, unique within its namespace.',
  Age: 'Time since the object was created.',
};

/** What kinds without a printer of their own get: NAME and CREATED AT. */
export const defaultPrinter: Printer = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: DESCRIPTIONS.Name, priority: 0 },
    { name: 'Created At', type: 'date', format: '', description: DESCRIPTIONS.Age, priority: 0 },
  ],
  cells: (object: KubeObject) => [object.metadata.name ?? '', object.metadata.creationTimestamp ?? ''],
};

export function created(object: Any, now: number): string {
  return age(object.metadata?.creationTimestamp, now);
}

/** `a=b,c=d`, sorted; `<none>` for none. */
export function formatLabels(labels: Any): string {
  const entries = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, value]) => `${key}=${value}`).join(',') || '<none>';
}

/** A LabelSelector in selector syntax. */
export function selectorText(selector: Any): string {
  if (!selector) return '<none>';
  const terms: Array<[string, string]> = Object.entries(selector.matchLabels ?? {}).map(([k, v]) => [k, `${k}=${v}`]);
  for (const { key, operator, values } of items(selector.matchExpressions)) {
    const list = `(${[...items(values)].sort().join(',')})`;
    if (operator === 'In') terms.push([key, `${key} in ${list}`]);
    else if (operator === 'NotIn') terms.push([key, `${key} notin ${list}`]);
    else if (operator === 'Exists') terms.push([key, key]);
    else if (operator === 'DoesNotExist') terms.push([key, `!${key}`]);
    else return '<error>';
  }
  return terms
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
}

export function formatLabelSelector(selector: Any): string {
  return selectorText(selector) || '<none>';
}

export function containerCells(spec: Any): [string, string] {
  const containers = items(spec?.containers);
  return [containers.map((c) => c.name).join(','), containers.map((c) => c.image ?? '').join(',')];
}

/** `a,b,c + 2 more...` */
export function listWithMore(list: string[], max: number, none = '<unset>'): string {
  const shown = list.slice(0, max).join(',');
  if (list.length > max) return `${shown} + ${list.length - max} more...`;
  return shown || none;
}

export function hasTrueCondition(object: Any, type: string): boolean {
  return items(object.status?.conditions).some((c) => c.type === type && c.status === 'True');
}

/** `kubectl get` output of a custom resource: Name, then additionalPrinterColumns (Age where there are none). */
import type { KubeObject } from '../../api/object.ts';
import { bounded, TakesLong } from '../allowance.ts';
import { age } from '../builtins/duration.ts';
import { offloadNow } from '../offload/offload.ts';
import type { Printer, PrinterColumn } from '../resource.ts';
import { goJson } from '../schema/go-json.ts';
import { ApiError } from '../status.ts';
import type { CrdColumn } from './crd.ts';
import { compileFirstMatch, type JsonPath } from './json-path.ts';

/** metav1.ObjectMeta's own documentation of `name`, which the real server puts into the table. */
const NAME_DESCRIPTION =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const AGE_DESCRIPTION =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata';

const DEFAULT: CrdColumn[] = [
  { name: 'Age', type: 'date', description: AGE_DESCRIPTION, jsonPath: '.metadata.creationTimestamp' },
];

export function customPrinter(columns: CrdColumn[] | undefined): Printer {
  const chosen = columns === undefined || columns.length === 0 ? DEFAULT : columns;
  const cells = cellsOf(chosen);
  return {
    columns: [
      { name: 'Name', type: 'string', format: 'name', description: NAME_DESCRIPTION, priority: 0 },
      ...chosen.map(header),
    ],
    cells(object, now, scope) {
      try {
        return bounded(() => cells(object, now));
      } catch (error) {
        if (!(error instanceof TakesLong)) throw error;
        return offloadNow('cells', [chosen, object, now], scope);
      }
    },
  };
}

/** However long that takes. */
export function cellsOf(columns: CrdColumn[]): (object: KubeObject, now: number) => unknown[] {
  let paths: (JsonPath | undefined)[] | undefined;
  return (object, now) => {
    paths ??= columns.map((column) => parse(column.jsonPath));
    let size = 0;
    const cells = columns.map((column, i) => {
      const value = size > ROW_LIMIT ? null : cell(object, column, paths?.[i], now);
      if (typeof value === 'string') size += value.length;
      return value;
    });
    return [object.metadata.name, ...cells];
  };
}

/** Characters of one row: what comes after is empty. An object with many columns of all it has would be as large as many of it. */
const ROW_LIMIT = 4 * 1024 * 1024;

function header(column: CrdColumn): PrinterColumn {
  return {
    name: column.name,
    type: column.type,
    ...(column.format ? { format: column.format } : {}),
    description: column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
    priority: column.priority ?? 0,
  };
}

function parse(path: string): JsonPath | undefined {
  try {
    return compileFirstMatch(path);
  } catch (error) {
    if (error instanceof TakesLong) throw error;
    // A column that cannot be parsed prints nothing, as upstream's converter does.
    return undefined;
  }
}

function cell(object: KubeObject, column: CrdColumn, path: JsonPath | undefined, now: number): unknown {
  let found: unknown[];
  try {
    found = path?.(object) ?? [];
  } catch (error) {
    if (error instanceof TakesLong || error instanceof ApiError) throw error;
    return null;
  }
  if (found.length === 0) return null;
  const value = found[0];
  switch (column.type) {
    case 'string':
      return text(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : age(value, now);
    default:
      return null;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : goJson(value);
}

/** `kubectl get` output of a custom resource: Name, then additionalPrinterColumns (Age where there are none). */
import type { KubeObject } from '../../api/object.ts';
import { age } from '../builtins/duration.ts';
import type { Printer, PrinterColumn } from '../resource.ts';
import { goJson } from '../schema/go-json.ts';
import type { CrdColumn } from './crd.ts';
import { compileJsonPath, type JsonPath } from './json-path.ts';

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
  let paths: (JsonPath | undefined)[] | undefined;
  return {
    columns: [
      { name: 'Name', type: 'string', format: 'name', description: NAME_DESCRIPTION, priority: 0 },
      ...chosen.map(header),
    ],
    cells(object, now) {
      paths ??= chosen.map((column) => parse(column.jsonPath));
      return [object.metadata.name, ...chosen.map((column, i) => cell(object, column, paths?.[i], now))];
    },
  };
}

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
    return compileJsonPath(path);
  } catch {
    // A column that cannot be parsed prints nothing, as upstream's converter does.
    return undefined;
  }
}

function cell(object: KubeObject, column: CrdColumn, path: JsonPath | undefined, now: number): unknown {
  let found: unknown[];
  try {
    found = path?.(object) ?? [];
  } catch {
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

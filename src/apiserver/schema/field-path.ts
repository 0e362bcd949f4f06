/** Paths like `.spec.list['a.b']` that name a field of a schema: `fieldPath` of rules and selectable fields. */
import { restSchema } from './children.ts';
import type { Schema } from './schema.ts';

/** The keys of a path, or undefined where it is not one. */
export function parseFieldPath(path: string): string[] | undefined {
  const keys: string[] = [];
  const part = /\.([A-Za-z_][A-Za-z0-9_-]*)|\['((?:[^'\\]|\\.)+)'\]/y;
  while (part.lastIndex < path.length) {
    const match = part.exec(path);
    if (match === null) return undefined;
    keys.push(match[1] ?? (match[2] as string).replace(/\\(.)/g, '$1'));
  }
  return keys.length > 0 ? keys : undefined;
}

/** The schema the path leads to; lists have no names inside. */
export function schemaAt(schema: Schema, path: string): Schema | undefined {
  let current: Schema | undefined = schema;
  for (const key of parseFieldPath(path) ?? ['\0']) {
    current = current?.properties?.[key] ?? (current && restSchema(current));
    if (current === undefined) return undefined;
  }
  return current;
}

export function hasFieldPath(schema: Schema, path: string): boolean {
  return schemaAt(schema, path) !== undefined;
}

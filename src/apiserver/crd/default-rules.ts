/** Defaults must themselves be pruned and valid, else a server would store what it refuses from users. */

import { clone } from '../json.ts';
import { entries } from '../schema/children.ts';
import { deepEqual } from '../schema/equal.ts';
import { goJson } from '../schema/go-json.ts';
import { prune, pruneResource } from '../schema/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import type { FieldError } from '../status.ts';

/** Checks a value against the rules (CEL) of a schema; given by whoever knows CEL. */
export type RuleCheck = (value: unknown, schema: Schema, path: string) => FieldError[];

export function defaultRules(schema: Schema, path: string, rules?: RuleCheck): FieldError[] {
  const errors: FieldError[] = [];
  walk(schema, path, true, false, rules, errors);
  return errors;
}

function walk(
  s: Schema,
  path: string,
  root: boolean,
  meta: boolean,
  rules: RuleCheck | undefined,
  errors: FieldError[],
) {
  const resource = root || s['x-kubernetes-embedded-resource'] === true;
  if (s.default !== undefined && s.default !== null) checkDefault(s, `${path}.default`, meta, rules, errors);
  if (s.items) walk(s.items, `${path}.items`, false, meta, rules, errors);
  for (const [key, property] of entries(s.properties)) {
    const inMeta = (resource ? ['metadata', 'apiVersion', 'kind'].includes(key) : false) || (meta && !resource);
    walk(property, `${path}.properties[${key}]`, false, inMeta, rules, errors);
  }
}

function checkDefault(
  s: Schema,
  path: string,
  meta: boolean,
  rules: RuleCheck | undefined,
  errors: FieldError[],
): void {
  if (!meta) {
    const pruned = clone(s.default);
    if (s['x-kubernetes-embedded-resource'] && typeof pruned === 'object') pruneResource(pruned as object, s);
    else prune(pruned, s);
    if (!deepEqual(pruned, s.default)) {
      errors.push({
        type: 'FieldValueInvalid',
        field: path,
        message: `Invalid value: ${goJson(s.default)}: must not have unknown fields`,
      });
    }
  }
  const found = validate(s.default, s, path);
  if (found.length > 0) errors.push(...found);
  else if (rules) errors.push(...rules(s.default, s, path));
}

/**
 * What kinds and fields are for, in our own words, for `kubectl explain`. A field is looked up by its definition first
 * (`rbac.v1.Subject.kind`, then `Subject.kind`), then by its name alone. Loaded with the first OpenAPI document.
 */
import { readFileSync } from 'node:fs';
import { rawDefinition, splitName } from './tables.ts';

type Texts = Record<string, string>;

let kinds: Texts | undefined;
let fields: Texts | undefined;

function read(name: string): Texts {
  return JSON.parse(readFileSync(new URL(`./descriptions/${name}.json`, import.meta.url), 'utf8')) as Texts;
}

/** One sentence about a definition such as `io.k8s.api.core.v1.Pod`. */
export function describeDefinition(name: string): string | undefined {
  kinds ??= read('kinds');
  const [prefix, short] = splitName(name);
  const own = kinds[`${packageTail(prefix)}.${short}`] ?? kinds[short];
  if (own) return own;
  return short.endsWith('List') ? `A list of ${short.slice(0, -4)} objects.` : undefined;
}

/**
 * One sentence about a field; `definition` may be empty for fields every kind has. Where the field has no text of its
 * own, that of the definition it refers to says more than one for all fields of that name.
 */
export function describeField(definition: string, field: string, reference?: string): string | undefined {
  fields ??= read('fields');
  const [prefix, short] = splitName(definition);
  return (
    fields[`${packageTail(prefix)}.${short}.${field}`] ??
    fields[`${short}.${field}`] ??
    fields[`${familyOf(short)}.${field}`] ??
    (reference && rawDefinition(reference).properties ? describeDefinition(reference) : undefined) ??
    fields[field]
  );
}

/** Definitions whose fields mean what those of another mean. */
const FAMILIES: Record<string, string> = {
  EphemeralContainer: 'Container',
  DeviceToleration: 'Toleration',
  DeviceTaint: 'Taint',
  MetricStatus: 'MetricSpec',
};

function familyOf(definition: string): string {
  if (definition.endsWith('Condition')) return 'Condition';
  if (definition.endsWith('List')) return 'List';
  return FAMILIES[definition] ?? '';
}

/** `io.k8s.api.rbac.v1` → `rbac.v1`. */
function packageTail(prefix: string): string {
  return prefix.split('.').slice(-2).join('.');
}

/** fieldsV1 in and out: clients may send anything, and what is stored is written in one canonical order. */
import { chargeWork } from '../allowance.ts';
import { FIELD_WORK, type FieldSet, hasChildren, isEmpty, LEAF } from './field-set.ts';
import { canonicalElement } from './path-element.ts';

/** A set from fieldsV1 that came from outside. Throws when it is none. Returns the input itself when it is canonical. */
export function parseFieldsV1(raw: unknown): FieldSet {
  const set = parseNode(raw) ?? LEAF;
  if (!set['.']) return set;
  const { '.': _, ...rest } = set;
  return rest;
}

/** Undefined for a node that holds nothing we understand. */
function parseNode(raw: unknown): FieldSet | undefined {
  if (raw === null || raw === undefined) return undefined;
  if (typeof raw !== 'object' || Array.isArray(raw)) throw new Error(`expected an object, got ${JSON.stringify(raw)}`);
  const source = raw as Record<string, unknown>;
  let out: FieldSet | undefined;
  for (const key in source) {
    const value = source[key];
    const element = key === '.' ? key : canonical(key);
    const child = element === undefined ? undefined : key === '.' ? LEAF : (parseNode(value) ?? LEAF);
    if (!out) {
      if (element === key && (child === value || key === '.')) continue;
      out = copyUntil(source, key);
    }
    if (element !== undefined && child !== undefined) out[element] = child;
  }
  const set = out ?? (source as FieldSet);
  return set['.'] && !hasChildren(set) ? LEAF : set;
}

function copyUntil(source: Record<string, unknown>, end: string): FieldSet {
  const out: FieldSet = {};
  for (const key in source) {
    if (key === end) break;
    out[key] = source[key] as FieldSet;
  }
  return out;
}

function canonical(key: string): string | undefined {
  // By far the most keys are field names, and those are canonical as they stand.
  return key.charCodeAt(0) === 102 && key.charCodeAt(1) === 58 ? key : canonicalElement(key);
}

/** The same set with sorted keys, sharing every node that is sorted already; equal sets are written as equal bytes. */
export function sortFieldsV1(set: FieldSet): FieldSet {
  const elements = Object.keys(set);
  chargeWork(FIELD_WORK * elements.length);
  let out: FieldSet | undefined;
  if (!isSorted(elements)) {
    elements.sort();
    out = {};
  }
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as string;
    const child = set[element] as FieldSet;
    const sorted = isEmpty(child) ? child : sortFieldsV1(child);
    if (!out && sorted !== child) {
      out = {};
      for (let j = 0; j < i; j++) out[elements[j] as string] = set[elements[j] as string] as FieldSet;
    }
    if (out) out[element] = sorted;
  }
  return out ?? set;
}

function isSorted(elements: string[]): boolean {
  for (let i = 1; i < elements.length; i++) if ((elements[i] as string) < (elements[i - 1] as string)) return false;
  return true;
}

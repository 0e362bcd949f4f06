/**
 * A set of field paths in the form managedFields stores it (fieldsV1): a trie whose keys are path elements. A node with
 * no keys, or with the key `.`, is a member; the root is never one, so `{}` there is the empty set.
 *
 * Sets are never changed once shared; operations return new ones and may share subtrees with their inputs. Working on
 * the stored form itself keeps decoding and encoding off the road of every write.
 */
import { chargeWork } from '../allowance.ts';
import { compareElements } from './path-element.ts';

export interface FieldSet {
  [element: string]: FieldSet;
}

/** What marks a member, and the leaf everywhere; shared, so never write to it. */
export const LEAF: FieldSet = Object.freeze({});

const SELF = '.';

/** Units of work for one field, see chargeWork. */
export const FIELD_WORK = 5;

export function isEmpty(set: FieldSet): boolean {
  // Asking a large object for its first key lists them all.
  if (set[SELF] !== undefined) return false;
  for (const _ in set) return false;
  return true;
}

function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmpty(node);
}

/** Whether there is anything below `node`. */
export function hasChildren(node: FieldSet): boolean {
  for (const element in node) if (element !== SELF) return true;
  return false;
}

/** A node for its parent: absent when it is neither a member nor has members below. */
function node(member: boolean, children: FieldSet): FieldSet | undefined {
  if (!member) return isEmpty(children) ? undefined : children;
  return isEmpty(children) ? LEAF : { [SELF]: LEAF, ...children };
}

export function memberAt(set: FieldSet, element: string): boolean {
  const child = set[element];
  return child !== undefined && isMember(child);
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let at = set;
  for (const element of path) {
    const next = at[element];
    if (!next) return false;
    at = next;
  }
  return path.length > 0 && isMember(at);
}

/** The members below `element`, as a set of their own. */
export function below(set: FieldSet, element: string): FieldSet {
  const child = set[element];
  if (!child || child[SELF] === undefined) return child ?? LEAF;
  const { [SELF]: _, ...children } = child;
  return children;
}

/** Adds a path in place; for building a set. */
export function insert(set: FieldSet, path: readonly string[]): void {
  let at = set;
  for (let i = 0; i < path.length; i++) {
    const element = path[i] as string;
    const last = i === path.length - 1;
    const next = at[element];
    if (!next) {
      const made: FieldSet = last ? LEAF : {};
      at[element] = made;
      at = made;
    } else if (last) {
      if (!isMember(next)) at[element] = { [SELF]: LEAF, ...next };
    } else if (isEmpty(next)) {
      const made: FieldSet = { [SELF]: LEAF };
      at[element] = made;
      at = made;
    } else {
      at = next;
    }
  }
}

export function setOf(...paths: string[][]): FieldSet {
  const set: FieldSet = {};
  for (const path of paths) insert(set, path);
  return set;
}

/** Returns `a` itself when `b` adds nothing; with one large set and one small, the large one best comes first. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  let out: FieldSet | undefined;
  for (const element in b) {
    chargeWork(FIELD_WORK);
    if (element === SELF) continue;
    const right = b[element] as FieldSet;
    const left = a[element];
    const both = left ? unionNodes(left, right) : right;
    if (both === left) continue;
    out ??= { ...a };
    out[element] = both;
  }
  return out ?? a;
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmpty(b)) return isMember(a) ? a : { [SELF]: LEAF, ...a };
  if (isEmpty(a)) return isMember(b) ? b : { [SELF]: LEAF, ...b };
  const out = union(a, b);
  return b[SELF] && !out[SELF] ? { [SELF]: LEAF, ...out } : out;
}

/** Walks along `a`: the smaller set best comes first. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: FieldSet = {};
  for (const element in a) {
    chargeWork(FIELD_WORK);
    if (element === SELF) continue;
    const left = a[element] as FieldSet;
    const right = b[element];
    if (!right) continue;
    if (isEmpty(left)) {
      if (isMember(right)) out[element] = LEAF;
      continue;
    }
    const kept = node(isMember(left) && isMember(right), intersection(left, right));
    if (kept) out[element] = kept;
  }
  return out;
}

/** Members of `a` that are not members of `b`; what lies below a member of `b` stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false);
}

/** Like difference, but a member of `b` takes everything below it along. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true);
}

/** Returns `a` itself when nothing goes, so that callers can tell by identity. */
function subtract(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet {
  let out: FieldSet | undefined;
  for (const element in b) {
    chargeWork(FIELD_WORK);
    if (element === SELF) continue;
    const left = a[element];
    if (!left) continue;
    const right = b[element] as FieldSet;
    const gone = isMember(right);
    let kept: FieldSet | undefined;
    if (!(gone && recursive)) {
      const children = subtract(left, right, recursive);
      if (children === left && !(gone && isMember(left))) continue;
      kept = isMember(left) && !gone ? member(children) : bare(children);
    }
    out ??= { ...a };
    if (kept) out[element] = kept;
    else delete out[element];
  }
  return out ?? a;
}

/** A node that is a member and says so, in its shortest form. */
function member(node: FieldSet): FieldSet {
  return hasChildren(node) ? node : LEAF;
}

/** What is below a node, without the node itself; absent when that is nothing. */
function bare(node: FieldSet): FieldSet | undefined {
  if (!hasChildren(node)) return undefined;
  if (node[SELF] === undefined) return node;
  const { [SELF]: _, ...children } = node;
  return children;
}

/** Only the members without members below them. */
export function leaves(set: FieldSet): FieldSet {
  const out: FieldSet = {};
  for (const element in set) {
    if (element === SELF) continue;
    const child = set[element] as FieldSet;
    out[element] = hasChildren(child) ? leaves(child) : LEAF;
  }
  return out;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let size = 0;
  for (const element in a) {
    const right = b[element];
    if (!right || !equalSets(a[element] as FieldSet, right)) return false;
    size++;
  }
  for (const _ in b) size--;
  return size === 0;
}

/** Every member path; at each level members first, then what lies below (the order upstream reports conflicts in). */
export function paths(set: FieldSet, prefix: readonly string[] = [], out: string[][] = []): string[][] {
  const elements = Object.keys(set)
    .filter((element) => element !== SELF)
    .sort(compareElements);
  for (const element of elements) if (memberAt(set, element)) out.push([...prefix, element]);
  for (const element of elements) paths(set[element] as FieldSet, [...prefix, element], out);
  return out;
}

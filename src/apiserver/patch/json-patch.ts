/**
 * JSON patch (RFC 6902), with the real server's habits (evanphx/json-patch v4): negative indexes count from the end,
 * `replace` of a missing key adds it, `copy` of a missing key gives null, a missing `value` is null.
 */
import { assign, clone, equal } from '../json.ts';
import { badRequest, tooLarge } from '../status.ts';
import { jsonKind } from './go-value.ts';
import { unprocessable } from './patch-error.ts';

const MAX_OPERATIONS = 10_000;
/** Copies of copies double the document each time; the real server stops there, too. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

type JsonMap = Record<string, unknown>;
type Container = JsonMap | unknown[];

interface Operation {
  op: unknown;
  path?: string;
  from?: string;
  value?: unknown;
}

/** The operation that is being done, for those who have to say which one did not fit. */
export interface PatchProgress {
  operation?: { op?: unknown; path?: string };
}

/** The patched document; shares nothing with the inputs. */
export function applyJsonPatch(doc: unknown, operations: unknown, progress: PatchProgress = {}): unknown {
  const checked = check(operations);
  if (checked.length > MAX_OPERATIONS) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${checked.length}`);
  }
  let result = clone(doc) as Container;
  let copied = 0;
  for (const operation of checked) {
    progress.operation = operation;
    if (operation.op === 'copy') copied += sizeAt(result, operation.from);
    if (copied > MAX_COPIED_BYTES) throw unprocessable();
    result = run(result, operation);
  }
  return result;
}

function sizeAt(doc: Container, pointer: string | undefined): number {
  return JSON.stringify(read(...find(doc, pointer)) ?? null).length;
}

function check(operations: unknown): Operation[] {
  if (operations === null) return [];
  if (!Array.isArray(operations)) throw malformed(operations, 'Go value of type []handlers.jsonPatchOp');
  for (const operation of operations) {
    if (operation === null) continue;
    if (typeof operation !== 'object' || Array.isArray(operation)) {
      throw malformed(operation, 'Go value of type handlers.jsonPatchOp');
    }
    for (const name of ['op', 'path', 'from']) {
      const value = operation[name];
      if (value !== undefined && value !== null && typeof value !== 'string') {
        throw malformed(value, `Go struct field jsonPatchOp.${name} of type string`);
      }
    }
  }
  return operations.map((operation) => operation ?? {});
}

function malformed(value: unknown, target: string) {
  return badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(value)} into ${target}`);
}

/** Changes the document in place; returns another one only where the whole is replaced. */
function run(doc: Container, operation: Operation): Container {
  const { value = null } = operation;
  switch (operation.op) {
    case 'add':
      add(doc, operation.path, clone(value));
      return doc;
    case 'remove': {
      const [container, key] = find(doc, operation.path);
      remove(container, key);
      return doc;
    }
    case 'replace': {
      if (operation.path === '') {
        if (typeof value !== 'object' || value === null) throw unprocessable();
        return clone(value) as Container;
      }
      const [container, key] = find(doc, operation.path);
      if (Array.isArray(container)) container[indexOf(container, key)] = clone(value);
      else assign(container, key, clone(value));
      return doc;
    }
    case 'move': {
      const [container, key] = find(doc, operation.from);
      const moved = read(container, key);
      remove(container, key);
      add(doc, operation.path, moved);
      return doc;
    }
    case 'copy': {
      const [container, key] = find(doc, operation.from);
      add(doc, operation.path, clone(read(container, key) ?? null));
      return doc;
    }
    case 'test': {
      const actual = operation.path === '' ? doc : read(...find(doc, operation.path));
      if (!equal(actual ?? null, value)) throw unprocessable();
      return doc;
    }
    default:
      throw unprocessable();
  }
}

/** The container a pointer ends in, and the last step. The text before the first slash is ignored, as upstream does. */
function find(doc: Container, pointer: string | null | undefined): [Container, string] {
  const steps = pointer?.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (!steps || steps.length < 2) throw unprocessable();
  let at = doc;
  for (const step of steps.slice(1, -1)) {
    const next = read(at, step);
    if (typeof next !== 'object' || next === null) throw unprocessable();
    at = next as Container;
  }
  return [at, steps[steps.length - 1] as string];
}

/** Undefined for a missing key; a missing index is an error. */
function read(container: Container, key: string): unknown {
  if (Array.isArray(container)) return container[indexOf(container, key)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function indexOf(array: unknown[], key: string, size = array.length): number {
  if (!/^[+-]?\d+$/.test(key)) throw unprocessable();
  const index = Number.parseInt(key, 10);
  if (index >= size || index < -size) throw unprocessable();
  return index < 0 ? index + size : index;
}

function add(doc: Container, pointer: string | undefined, value: unknown): void {
  const [container, key] = find(doc, pointer);
  if (!Array.isArray(container)) assign(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexOf(container, key, container.length + 1), 0, value);
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(indexOf(container, key), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw unprocessable();
}

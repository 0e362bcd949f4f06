/** The patch of a mutating webhook, applied: the result is held to its type like anything a client sends. */
import type { KubeObject } from '../../../api/object.ts';
import { definitionOfKind } from '../../kinds/component-name.ts';
import { definition } from '../../kinds/definition.ts';
import { applyJsonPatch, type PatchProgress } from '../../patch/json-patch.ts';
import type { Resource } from '../../resource.ts';
import { checkTypes } from '../../schema/check-types.ts';
import { prune } from '../../schema/prune.ts';
import { internalError } from '../../status.ts';
import { yieldTurn } from '../../turns.ts';
import { CallFailure } from './call-hook.ts';
import type { Hook } from './hook.ts';
import type { Invocation } from './match.ts';
import type { Verdict } from './review.ts';

interface Operation {
  op?: string;
  path?: string;
  from?: string;
}

/** The operations of a verdict; none where it changes nothing. */
export function operationsOf(hook: Hook, { patch, patchType }: Verdict): Operation[] {
  if (!patch) return [];
  let operations: unknown;
  try {
    operations = JSON.parse(Buffer.from(patch, 'base64').toString());
  } catch (error) {
    throw new CallFailure(hook, `received undecodable patch in webhook response: ${(error as Error).message}`);
  }
  if (operations === null) return [];
  if (!Array.isArray(operations)) {
    const why = `json: cannot unmarshal ${typeof operations} into Go value of type jsonpatch.Patch`;
    throw new CallFailure(hook, `received undecodable patch in webhook response: ${why}`);
  }
  if (operations.length > 0 && patchType !== 'JSONPatch') {
    throw new CallFailure(hook, `unsupported patch type ${JSON.stringify(patchType ?? '')}`);
  }
  return operations;
}

/** A new object in the version of the invocation. Rejects with ApiError 500, whatever the failure policy. */
export async function patched(
  { hook, resource, kind }: Invocation,
  operations: Operation[],
  object: KubeObject | undefined,
  size: number | undefined,
): Promise<KubeObject> {
  if (!object) {
    const what = `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object`;
    throw internalError(new Error(`${what}, which is not supported for this operation`));
  }
  const result = apply(object, operations);
  await yieldTurn(size);
  if (result.apiVersion !== object.apiVersion || result.kind !== object.kind) {
    const text = `no kind ${JSON.stringify(result.kind ?? '')} is registered for version ${JSON.stringify(result.apiVersion ?? '')}`;
    throw internalError(new Error(text));
  }
  try {
    conform(resource, kind, result);
  } catch (error) {
    if (error instanceof TypeError) throw internalError(error);
    throw error;
  }
  return result;
}

function apply(object: KubeObject, operations: Operation[]): KubeObject {
  const progress: PatchProgress = {};
  try {
    return applyJsonPatch(object, operations, progress) as KubeObject;
  } catch {
    throw internalError(new Error(failureText(progress)));
  }
}

function failureText({ operation }: PatchProgress): string {
  if (!operation) return 'the patch does not apply';
  const { op, path = '' } = operation;
  if (op === 'test') return `testing value ${path} failed: test failed`;
  if (!OPERATIONS.includes(op)) return `Unexpected kind: ${op || 'unknown'}`;
  return `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`;
}

const OPERATIONS: unknown[] = ['add', 'remove', 'replace', 'move', 'copy'];

/** Unknown fields go without a word: a webhook is no client that could be told. */
function conform(resource: Resource, kind: Invocation['kind'], object: KubeObject): void {
  if (kind.kind !== resource.kind) {
    const name = definitionOfKind(kind.group, kind.version, kind.kind);
    if (!name) return;
    checkTypes(object, definition(name), kind.kind);
    prune(object, definition(name));
  } else if (resource.custom) resource.custom.prune(object);
  else {
    checkTypes(object, resource.schema());
    prune(object, resource.schema());
  }
}

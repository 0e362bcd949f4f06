/** PUT and PATCH: an object revised from what is stored, tried again when someone else was faster. */
import type { KubeObject } from '../../api/object.ts';
import { commit } from '../admission/admission.ts';
import type { ClusterContext } from '../cluster-context.ts';
import type { WriteOptions } from '../operations.ts';
import type { RequestScope } from '../request-scope.ts';
import type { Resource } from '../resource.ts';
import { isLarge, yieldTurn } from '../turns.ts';
import { prepare, storable } from './conversion.ts';
import { attributesOf, type Draft, mutate, settle, writeContext } from './draft.ts';
import { committed, unwritten } from './dry-run.ts';
import { beforeUpdate, bumpGeneration, checkUpdatePreconditions, contentDiffers } from './metadata.ts';
import { keyOf, servedAsStored, servedInTurns } from './stored-form.ts';

const RACE = Symbol('someone else wrote first');

/** Makes the new object from the live one (which it must not change), whose text is of that size. May throw ApiError. */
export type Revise = (live: KubeObject, size: number) => Revised | Promise<Revised>;

interface Revised {
  object: KubeObject;
  options: WriteOptions;
}

/** Undefined when there is no such object. */
export async function change(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  name: string,
  revise: Revise,
  scope?: RequestScope,
): Promise<KubeObject | undefined> {
  const key = keyOf(resource, namespace, name);
  for (;;) {
    const stored = context.store.get(key);
    if (!stored) return undefined;
    await prepare(resource, [stored]);
    const live = await servedInTurns(resource, stored, scope);
    await yieldTurn(stored.json.length);
    const { object, options } = sized(await revise(live, stored.json.length), stored.json.length);
    await yieldTurn(options.size, options.scope);
    checkUpdatePreconditions(resource, object, live);
    beforeUpdate(object, live);
    const draft: Draft = { resource, namespace, object, live, options };
    const attributes = attributesOf(context, draft, 'UPDATE');
    await mutate(context, draft, attributes);
    // What only the system sets is not a webhook's to change either.
    if (draft.object !== object) beforeUpdate(draft.object, live);
    keepOtherParts(resource, draft.object, live, options);
    if (options.subresource) {
      resource.strategy.prepareSubresource?.(options.subresource, draft.object, live, writeContext(context, options));
    } else {
      resource.strategy.prepareUpdate?.(draft.object, live, writeContext(context, options));
    }
    // A pod that is placed is what it was asked to be.
    if (options.subresource !== 'binding') bumpGeneration(resource, draft.object, live);
    await yieldTurn(options.size, options.scope);
    await settle(context, draft, attributes);
    const toStore = await storable(resource, draft.object);
    // The store would find out by itself, but only inside of its transaction, where all writers wait.
    const differs = isLarge(options.size) && servedAsStored(resource) && contentDiffers(draft.object, live);
    const result = await committed(context.store, options.dryRun, (tx) => {
      const now = tx.get(key);
      if (!now || now.rv !== stored.rv) return RACE;
      commit(tx, attributes, context.admission);
      if (!isFinished(draft.object)) return tx.put(key, toStore(), differs);
      const removed = tx.delete(key);
      draft.object.metadata.resourceVersion = String(removed?.rv ?? stored.rv);
      return undefined;
    });
    if (result === RACE) continue;
    await yieldTurn(options.size, options.scope);
    if (result) await prepare(resource, [result]);
    const written = result ? await servedInTurns(resource, result, options.scope) : draft.object;
    await yieldTurn(options.size, options.scope);
    return options.dryRun ? unwritten(written, stored.rv) : written;
  }
}

/** A small patch of a large object is much work, too. */
function sized({ object, options }: Revised, stored: number): Revised {
  return { object, options: { ...options, size: Math.max(options.size ?? 0, stored) } };
}

/**
 * The main resource never changes status, `/status` changes nothing but status (and, for built-in kinds, labels,
 * annotations, finalizers and owners).
 */
function keepOtherParts(resource: Resource, object: KubeObject, live: KubeObject, options: WriteOptions): void {
  if (options.subresource === 'status') {
    for (const key of new Set([...Object.keys(object), ...Object.keys(live)])) {
      if (key !== 'status' && key !== 'metadata') restore(object, live, key);
    }
    if (resource.custom) {
      const { managedFields } = object.metadata;
      object.metadata = { ...structuredClone(live.metadata), managedFields };
    }
  } else if (!options.subresource && resource.subresources.some((s) => s.name === 'status')) {
    restore(object, live, 'status');
  }
}

function restore(object: KubeObject, live: KubeObject, key: string): void {
  if (live[key] === undefined) delete object[key];
  else object[key] = structuredClone(live[key]);
}

/** Being deleted, with nobody left to wait for: the write that removes the last finalizer removes the object. */
function isFinished(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (!deletionTimestamp || finalizers?.length || deletionGracePeriodSeconds) return false;
  return !(object.kind === 'Namespace' && object.apiVersion === 'v1' && object.spec?.finalizers?.length);
}

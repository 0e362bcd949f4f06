/** A write on its way: what every check and hook of the request road looks at. */
import type { KubeObject } from '../../api/object.ts';
import { sleep } from '../../clock.ts';
import { type AdmissionAttributes, admit, admitMutation } from '../admission/admission.ts';
import { resetFields } from '../apply/reset-fields.ts';
import { checkEscalation } from '../auth/escalation.ts';
import { nameKindOf } from '../builtins/index.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../builtins/metadata-validation.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { NO_SUBJECT, offload, offloadNow } from '../offload/offload.ts';
import type { Work } from '../offload/work.ts';
import type { WriteOptions } from '../operations.ts';
import type { Resource, Strategy, WriteContext } from '../resource.ts';
import { ApiError, type FieldError, invalid } from '../status.ts';
import { isLarge, yieldTurn } from '../turns.ts';
import { recorded } from './ownership.ts';
import { servedApiVersion } from './stored-form.ts';

export interface Draft {
  resource: Resource;
  namespace: string;
  /** As it shall be, in the served version. */
  object: KubeObject;
  /** As it is; absent on create. Never changed. */
  live?: KubeObject;
  options: WriteOptions;
  /** Who manages what is recorded: what a webhook changes after that belongs to nobody. */
  isOwned?: boolean;
}

export function writeContext(context: ClusterContext, options: WriteOptions): WriteContext {
  return {
    now: context.clock.now(),
    user: options.identity.user,
    groups: options.identity.groups,
    dryRun: options.dryRun ?? false,
  };
}

export function attributesOf(
  context: ClusterContext,
  draft: Draft,
  operation: AdmissionAttributes['operation'],
): AdmissionAttributes {
  return {
    operation,
    resource: draft.resource,
    subresource: draft.options.subresource ?? '',
    namespace: draft.namespace,
    // Options of a connection have no metadata.
    name: draft.object.metadata?.name ?? '',
    object: operation === 'DELETE' ? undefined : draft.object,
    old: draft.live,
    identity: draft.options.identity,
    dryRun: draft.options.dryRun ?? false,
    store: context.store,
    now: context.clock.now(),
    warnings: draft.options.warnings,
    wait: (ms) => sleep(context.clock, ms),
    options: () => optionsObject(operation, draft.options),
    deadline: context.clock.now() + REQUEST_MS,
    scope: draft.options.scope,
    isInner: draft.options.isInner,
  };
}

/** As long as the real server gives any request that is no watch. */
const REQUEST_MS = 34_000;

const OPTIONS_KINDS: Record<string, string> = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions' };

function optionsObject(operation: string, options: WriteOptions): Record<string, unknown> | undefined {
  const kind = OPTIONS_KINDS[operation];
  if (!kind) return undefined;
  const { dryRun, requestedManager, fieldValidation } = options;
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(requestedManager ? { fieldManager: requestedManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
}

/**
 * What the server itself changes before the kind's own rules look: defaults, then admission, then defaults again.
 * Defaults belong to whoever left a field out; what admission and the kind's rules set later belongs to nobody.
 */
export async function mutate(context: ClusterContext, draft: Draft, attributes: AdmissionAttributes): Promise<void> {
  const { defaults } = draft.resource.strategy;
  defaults?.(draft.object);
  if (!draft.live || hasExternalMutation(context, attributes)) await own(context, draft);
  await admitMutation(attributes, context.admission);
  draft.object = attributes.object ?? draft.object;
  defaults?.(draft.object);
}

function hasExternalMutation(context: ClusterContext, attributes: AdmissionAttributes): boolean {
  if (attributes.isInner) return false;
  return context.admission.some((plugin) => plugin.external && plugin.mutate && plugin.handles(attributes));
}

/** Validation in all its forms: all that stands between a prepared object and the store. */
export async function settle(context: ClusterContext, draft: Draft, attributes: AdmissionAttributes): Promise<void> {
  const { resource, live, options } = draft;
  if (live) await own(context, draft);
  await yieldTurn(options.size, options.scope);
  const errors = await validate(draft);
  if (errors.length > 0) {
    throw invalid(resource.group, resource.kind, draft.object.metadata.name ?? '', errors);
  }
  checkEscalation(context.authorizer, options.identity, draft.object, live);
  await admit('validate', attributes, context.admission);
  const warnings = options.warnings && resource.strategy.warnings?.(draft.object, live);
  if (warnings?.length) options.warnings?.push(...warnings);
}

/** Records who manages which fields, once (server-side apply brings its own record). */
async function own(context: ClusterContext, draft: Draft): Promise<void> {
  const { resource, live, options } = draft;
  const { subresource = '' } = options;
  if (draft.isOwned || options.fieldManager === APPLIED) return;
  if (live && subresource !== '' && subresource !== 'status') return;
  draft.isOwned = true;
  const request = {
    live,
    object: draft.object,
    manager: options.fieldManager ?? 'unknown',
    apiVersion: servedApiVersion(resource),
    subresource,
    structs: !resource.custom,
    reset: resetFields(resource, subresource),
    now: context.clock.now(),
  };
  const record = recorded(resource, request, options);
  draft.object.metadata.managedFields = await record.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    options.scope?.check();
    // A webhook does not convert to a manager's version. As upstream, the write goes on and the record is lost.
    return undefined;
  });
}

/** Marks a draft whose managedFields are already settled by server-side apply. */
export const APPLIED = '\u0000applied';

async function validate({ resource, object, live, options }: Draft): Promise<FieldError[]> {
  const errors = live
    ? validateObjectMetaUpdate(object.metadata, live.metadata)
    : validateObjectMeta(object.metadata, {
        namespaced: resource.namespaced,
        nameKind: resource.custom ? 'subdomain' : nameKindOf(resource.group, resource.kind),
        // CRDs are checked by apimachinery upstream, which takes any finalizer.
        builtin: !resource.custom && resource.group !== 'apiextensions.k8s.io',
      });
  const { group, kind, strategy } = resource;
  const { scope, size } = options;
  const args: Parameters<Work['strategy']> = [NO_SUBJECT, group, kind, object, live];
  // Rules of built-in kinds do not say how much they do; those that do are worth a try.
  const found =
    isLarge(size) && !resource.custom && !strategy.ready
      ? await offloadNow('strategy', args, scope)
      : await offload(kindErrors(strategy, object, live), 'strategy', args, { scope });
  for (const error of found) errors.push(error);
  if (resource.custom) errors.push(...(await resource.custom.validate(object, live, options.warnings, options.scope)));
  return errors;
}

function* kindErrors(
  strategy: Strategy,
  object: KubeObject,
  live: KubeObject | undefined,
): Generator<void, FieldError[]> {
  if (strategy.ready) yield* strategy.ready(object);
  return (live ? strategy.validateUpdate?.(object, live) : strategy.validate?.(object)) ?? [];
}

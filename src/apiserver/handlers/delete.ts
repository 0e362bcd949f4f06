/** DELETE: gone at once, or marked and kept until grace and finalizers are through. */
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import { admit, admitMutation, commit } from '../admission/admission.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { returnsDeleted } from '../kinds/builtin.ts';
import type { DeleteOptions, WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { conflict, field, invalid, notFound, type Status } from '../status.ts';
import type { Stored } from '../store/store.ts';
import { prepare, storable } from './conversion.ts';
import { attributesOf } from './draft.ts';
import { committed, unwritten } from './dry-run.ts';
import { subjectOf } from './metadata.ts';
import { keyOf, served } from './stored-form.ts';

/** Kinds whose dependents are orphaned when a client does not say otherwise, kept so since their first version. */
const ORPHAN_BY_DEFAULT = new Set(['/replicationcontrollers', 'batch/jobs']);

const RACE = Symbol('someone else wrote first');

export interface Deleted {
  gone: boolean;
  result: KubeObject | Status;
}

export async function remove(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  name: string,
  deletion: DeleteOptions,
  options: WriteOptions,
): Promise<Deleted> {
  checkOptions(deletion);
  const key = keyOf(resource, namespace, name);
  for (;;) {
    const stored = context.store.get(key);
    if (!stored) throw notFound(subjectOf(resource, name));
    await prepare(resource, [stored]);
    const live = served(resource, stored);
    checkPreconditions(resource, live, deletion);
    const attributes = attributesOf(context, { resource, namespace, object: live, live, options }, 'DELETE');
    attributes.options = () => deleteOptions(deletion, options);
    await admitMutation(attributes, context.admission);
    await admit('validate', attributes, context.admission);
    const waiting = marked(context, resource, live, deletion);
    const toStore = waiting && (await storable(resource, waiting));
    const result = await committed(context.store, options.dryRun, (tx): Stored | Deleted | typeof RACE => {
      if (tx.get(key)?.rv !== stored.rv) return RACE;
      commit(tx, attributes, context.admission);
      if (toStore) return tx.put(key, toStore());
      const last = tx.delete(key);
      if (last) live.metadata.resourceVersion = String(last.rv);
      return { gone: true, result: farewell(context, resource, live) };
    });
    if (result === RACE) continue;
    if ('gone' in result) return result;
    await prepare(resource, [result]);
    const kept = served(resource, result);
    return { gone: false, result: options.dryRun ? unwritten(kept, stored.rv) : kept };
  }
}

function deleteOptions(deletion: DeleteOptions, { dryRun }: WriteOptions): Record<string, unknown> {
  return {
    ...deletion,
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
}

/** The object as it waits for its end, or undefined when it need not wait. */
function marked(
  context: ClusterContext,
  resource: Resource,
  live: KubeObject,
  deletion: DeleteOptions,
): KubeObject | undefined {
  const object = structuredClone(live);
  const meta = object.metadata;
  const finalizers = finalizersFor(resource, meta.finalizers ?? [], deletion);
  if (finalizers.length > 0) meta.finalizers = finalizers;
  else delete meta.finalizers;
  let grace = resource.strategy.gracePeriod?.(live, deletion.gracePeriodSeconds) ?? 0;
  // A second delete may shorten the wait, never lengthen it.
  if (meta.deletionTimestamp) grace = Math.min(grace, meta.deletionGracePeriodSeconds ?? 0);
  const isNamespace = resource.storage === '/namespaces';
  const held = finalizers.length > 0 || (isNamespace && object.spec?.finalizers?.length > 0);
  if (!held && grace === 0) return undefined;
  if (!meta.deletionTimestamp || grace < (meta.deletionGracePeriodSeconds ?? 0)) {
    if (!meta.deletionTimestamp && !resource.strategy.noGeneration) meta.generation = (meta.generation ?? 0) + 1;
    meta.deletionTimestamp = rfc3339(context.clock.now() + grace * 1000);
    if (!isNamespace) meta.deletionGracePeriodSeconds = grace;
  }
  if (isNamespace) object.status = { ...object.status, phase: 'Terminating' };
  return object;
}

function finalizersFor(resource: Resource, current: string[], deletion: DeleteOptions): string[] {
  const policy = policyFor(resource, current, deletion);
  const kept = current.filter((f) => f !== 'orphan' && f !== 'foregroundDeletion');
  if (policy === 'Orphan') return [...kept, 'orphan'];
  if (policy === 'Foreground') return [...kept, 'foregroundDeletion'];
  return kept;
}

function policyFor(resource: Resource, current: string[], deletion: DeleteOptions): string {
  if (deletion.orphanDependents !== undefined) return deletion.orphanDependents ? 'Orphan' : 'Background';
  if (deletion.propagationPolicy) return deletion.propagationPolicy;
  if (current.includes('orphan')) return 'Orphan';
  if (current.includes('foregroundDeletion')) return 'Foreground';
  return ORPHAN_BY_DEFAULT.has(resource.storage) ? 'Orphan' : 'Background';
}

function checkOptions(deletion: DeleteOptions): void {
  const errors = [];
  const { propagationPolicy, orphanDependents, gracePeriodSeconds } = deletion;
  if (propagationPolicy && orphanDependents !== undefined) {
    errors.push(
      field.invalid(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  }
  if (propagationPolicy && !['Orphan', 'Background', 'Foreground'].includes(propagationPolicy)) {
    errors.push(
      field.notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
    );
  }
  if (gracePeriodSeconds !== undefined && !Number.isInteger(gracePeriodSeconds)) {
    errors.push(field.invalid('gracePeriodSeconds', gracePeriodSeconds, 'must be an integer'));
  }
  if (errors.length > 0) throw invalid('meta.k8s.io', 'DeleteOptions', '', errors);
}

function checkPreconditions(resource: Resource, live: KubeObject, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion, name } = live.metadata;
  // Upstream names the kind here, not the resource.
  const subject = { group: resource.group, resource: resource.kind, name };
  if (preconditions?.uid && preconditions.uid !== uid) {
    throw conflict(
      subject,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      subject,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** Some kinds are shown once more as they end; of the others only the name is. */
function farewell(context: ClusterContext, resource: Resource, object: KubeObject): KubeObject | Status {
  if (!returnsDeleted(resource)) return success(resource, object);
  if (!resource.strategy.gracePeriod) return object;
  const meta = object.metadata;
  if (!meta.deletionTimestamp) meta.generation = (meta.generation ?? 0) + 1;
  meta.deletionTimestamp = rfc3339(context.clock.now());
  meta.deletionGracePeriodSeconds = 0;
  return object;
}

function success(resource: Resource, object: KubeObject): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: object.metadata.name,
      ...(resource.group ? { group: resource.group } : {}),
      kind: resource.plural,
      uid: object.metadata.uid,
    },
  };
}

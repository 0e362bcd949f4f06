/** POST: a new object. */
import type { KubeObject } from '../../api/object.ts';
import { commit } from '../admission/admission.ts';
import { requireAllowed } from '../auth/denial.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { clone } from '../json.ts';
import type { WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { ApiError, alreadyExists } from '../status.ts';
import { yieldTurn } from '../turns.ts';
import { checkKind, conform } from './conform.ts';
import { prepare, storable } from './conversion.ts';
import { attributesOf, type Draft, mutate, settle, writeContext } from './draft.ts';
import { committed, unwritten } from './dry-run.ts';
import { fillSystemFields, generatedName, settleNamespace, subjectOf, wipeSystemFields } from './metadata.ts';
import { keyOf, servedInTurns } from './stored-form.ts';

/** As often as upstream tries another generated name before it says AlreadyExists. */
const NAME_ATTEMPTS = 8;

export async function create(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  object: KubeObject,
  options: WriteOptions,
): Promise<KubeObject> {
  checkKind(resource, object);
  await conform(resource, object, options, options.duplicates);
  await yieldTurn(options.size, options.scope);
  return createConformed(context, resource, namespace, object, options);
}

/** PUT or server-side apply of what is not there: whoever may change objects makes none without the right to create. */
export async function createByChange(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  object: KubeObject,
  options: WriteOptions,
): Promise<KubeObject> {
  const { group, version, plural } = resource;
  const { name } = object.metadata;
  requireAllowed(context.authorizer, options.identity, {
    verb: 'create',
    group,
    version,
    resource: plural,
    namespace: resource.namespaced ? namespace : '',
    name,
  });
  return createConformed(context, resource, namespace, object, options);
}

/** The rest of the road, shared by all who create. */
async function createConformed(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  object: KubeObject,
  options: WriteOptions,
): Promise<KubeObject> {
  settleNamespace(resource, object, namespace);
  wipeSystemFields(object);
  const sent: Draft = { resource, namespace, object, options };
  await mutate(context, sent, attributesOf(context, sent, 'CREATE'));
  await yieldTurn(options.size, options.scope);
  settleNamespace(resource, sent.object, namespace);
  const base = sent.object.metadata.name ? undefined : sent.object.metadata.generateName;
  for (let attempt = 1; ; attempt++) {
    // Some kinds put their name into labels: another name starts from what was admitted.
    const draft: Draft = { ...sent, object: base ? clone(sent.object) : sent.object };
    if (base) draft.object.metadata.name = generatedName(context, base);
    fillSystemFields(context, resource, draft.object);
    if (base) resource.strategy.defaults?.(draft.object);
    const attributes = attributesOf(context, draft, 'CREATE');
    resource.strategy.prepareCreate?.(draft.object, writeContext(context, options));
    await settle(context, draft, attributes);
    const key = keyOf(resource, namespace, draft.object.metadata.name ?? '');
    const toStore = await storable(resource, draft.object);
    try {
      const stored = await committed(context.store, options.dryRun, (tx) => {
        if (tx.get(key)) throw alreadyExists(subjectOf(resource, key.name));
        commit(tx, attributes, context.admission);
        return tx.put(key, toStore());
      });
      await yieldTurn(options.size, options.scope);
      await prepare(resource, [stored]);
      const created = await servedInTurns(resource, stored, options.scope);
      await yieldTurn(options.size, options.scope);
      return options.dryRun ? unwritten(created) : created;
    } catch (error) {
      const taken = error instanceof ApiError && error.reason === 'AlreadyExists';
      if (!base || !taken || attempt === NAME_ATTEMPTS) throw error;
    }
  }
}

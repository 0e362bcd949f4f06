/** PUT: the whole object, as the client wants it. */
import type { KubeObject } from '../../api/object.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { clone } from '../json.ts';
import type { WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { notFound } from '../status.ts';
import { yieldTurn } from '../turns.ts';
import { change } from './change.ts';
import { checkKind, conform } from './conform.ts';
import { createByChange } from './create.ts';
import { settleName, settleNamespace, subjectOf } from './metadata.ts';

export async function update(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  name: string,
  object: KubeObject,
  options: WriteOptions,
): Promise<{ object: KubeObject; created: boolean }> {
  checkKind(resource, object);
  await conform(resource, object, options, options.duplicates);
  await yieldTurn(options.size, options.scope);
  settleNamespace(resource, object, namespace);
  settleName(object, name);
  const changed = await change(
    context,
    resource,
    namespace,
    name,
    () => ({ object: clone(object), options }),
    options.scope,
  );
  if (changed) return { object: changed, created: false };
  if (!resource.strategy.createOnUpdate || options.subresource) throw notFound(subjectOf(resource, name));
  return { object: await createByChange(context, resource, namespace, object, options), created: true };
}

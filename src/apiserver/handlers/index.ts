/** The implementation of `Operations` on one cluster; one file per verb beside this one. */
import type { ClusterContext } from '../cluster-context.ts';
import type { Operations } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { notFound } from '../status.ts';
import type { Stored } from '../store/store.ts';
import { isLarge } from '../turns.ts';
import { prepare } from './conversion.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { subjectOf } from './metadata.ts';
import { admitOperand } from './operand.ts';
import { patch } from './patch.ts';
import { keyOf, servedInTurns, viewed } from './stored-form.ts';
import { update } from './update.ts';

export function operationsOn(context: ClusterContext): Operations {
  const find = (resource: Resource, namespace: string, name: string): Stored => {
    const stored = context.store.get(keyOf(resource, namespace, name));
    if (!stored) throw notFound(subjectOf(resource, name));
    return stored;
  };
  return {
    get: (resource, namespace, name) => viewed(resource, find(resource, namespace, name)),
    async read(resource, namespace, name) {
      const stored = find(resource, namespace, name);
      await prepare(resource, [stored]);
      return isLarge(stored.json.length) ? servedInTurns(resource, stored) : viewed(resource, stored);
    },
    listAll(resource, namespace) {
      return context.store
        .list({ resource: resource.storage, namespace })
        .items.map((stored) => viewed(resource, stored));
    },
    create: (resource, namespace, object, options) => create(context, resource, namespace, object, options),
    update: (resource, namespace, name, object, options) => update(context, resource, namespace, name, object, options),
    patch: (resource, namespace, name, body, options) => patch(context, resource, namespace, name, body, options),
    admit: (operand, options) => admitOperand(context, operand, options),
    delete: (resource, namespace, name, deletion, options) =>
      remove(context, resource, namespace, name, deletion, options),
  };
}

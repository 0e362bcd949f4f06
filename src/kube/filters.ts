/** Which updates of an object are worth a reconcile, for `ControllerOptions.filter`. */
import type { KubeObject } from '../api/object.ts';
import { isSame } from './merge-patch.ts';

/** Everything but a change of status, which mostly was our own. Custom resources only: others have no generation. */
export function exceptStatus(object: KubeObject, old?: KubeObject): boolean {
  if (!old) return true;
  const { generation, deletionTimestamp, labels, annotations, finalizers, ownerReferences } = object.metadata;
  const before = old.metadata;
  return (
    generation !== before.generation ||
    deletionTimestamp !== before.deletionTimestamp ||
    !isSame(labels, before.labels) ||
    !isSame(annotations, before.annotations) ||
    !isSame(finalizers, before.finalizers) ||
    !isSame(ownerReferences, before.ownerReferences)
  );
}

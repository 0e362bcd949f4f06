/**
 * Sets written under an older schema, brought up to date: where a list or map has become one indivisible value since,
 * whoever owned parts of it owns the whole (structured-merge-diff typed/reconcile_schema.go).
 */
import { type FieldSet, hasChildren, isEmpty, LEAF } from './field-set.ts';
import type { MapType, Type } from './type.ts';
import { NOTHING } from './type.ts';
import { childType } from './value.ts';

/** Returns the set itself when nothing changed, which is nearly always. */
export function reconcile(type: Type, set: FieldSet): FieldSet {
  return reconcileNode(type, set, false) ?? set;
}

/** Undefined: keep. `whole`: the node is a member and has nothing below. */
function reconcileNode(type: Type, node: FieldSet, whole: boolean): FieldSet | undefined {
  const { map, list } = type;
  if (map) {
    if (map.deduced) return undefined;
    if (map.atomic) return !whole && hasChildren(node) ? LEAF : undefined;
    if (isPlain(map)) return undefined;
    return visit(node, (element) =>
      element.startsWith('f:') ? childType(map, element.slice(2)) : (map.element ?? NOTHING),
    );
  }
  if (type.scalar || !list) return undefined;
  if (!list.associative) return whole ? undefined : LEAF;
  return visit(node, () => list.item);
}

/** A map of scalars, such as labels or data: nothing below a key can have changed. */
function isPlain({ fields, element }: MapType): boolean {
  return fields.size === 0 && !element?.map && !element?.list;
}

function visit(node: FieldSet, typeAt: (element: string) => Type): FieldSet | undefined {
  let out: FieldSet | undefined;
  for (const element in node) {
    if (element === '.') continue;
    const child = node[element] as FieldSet;
    const changed = reconcileNode(typeAt(element), child, isEmpty(child));
    if (!changed) continue;
    out ??= { ...node };
    out[element] = changed;
  }
  return out;
}

/** How far the deletion of a namespace has come, as conditions in upstream's words; people and tools read them. */
import type { Condition, KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import type { Resource } from '../resource.ts';

/** What one pass over a terminating namespace found. */
export interface Remains {
  /** Resources with objects left, and how many. */
  counts: Map<Resource, number>;
  /** Finalizers that hold some of them. */
  finalizers: Map<string, number>;
  errors: string[];
}

interface Wording {
  ok: { reason: string; message: string };
  trouble(remains: Remains): { reason: string; message: string } | undefined;
}

const CONDITIONS: Record<string, Wording> = {
  NamespaceDeletionDiscoveryFailure: {
    ok: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    trouble: () => undefined,
  },
  NamespaceDeletionGroupVersionParsingFailure: {
    ok: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    trouble: () => undefined,
  },
  NamespaceDeletionContentFailure: {
    ok: { reason: 'ContentDeleted', message: 'All content successfully deleted, may be waiting on finalization' },
    trouble: ({ errors }) =>
      errors.length
        ? {
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${errors.length} remaining: ${[...errors].sort().join(', ')}`,
          }
        : undefined,
  },
  NamespaceContentRemaining: {
    ok: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    trouble: ({ counts }) => {
      const parts = [...counts].map(([r, n]) => `${r.plural}.${r.group} has ${n} resource instances`).sort();
      return parts.length
        ? { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${parts.join(', ')}` }
        : undefined;
    },
  },
  NamespaceFinalizersRemaining: {
    ok: { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    trouble: ({ finalizers }) => {
      const parts = [...finalizers].map(([f, n]) => `${f} in ${n} resource instances`).sort();
      return parts.length
        ? {
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${parts.join(', ')}`,
          }
        : undefined;
    },
  },
};

/** The namespace's conditions brought up to date; undefined when they say so already. */
export function deletionConditions(namespace: KubeObject, remains: Remains, now: number): Condition[] | undefined {
  const old: Condition[] = namespace.status?.conditions ?? [];
  const next = [...old];
  let changed = false;
  for (const [type, { ok, trouble }] of Object.entries(CONDITIONS)) {
    const found = trouble(remains);
    const status = found ? 'True' : 'False';
    const { reason, message } = found ?? ok;
    const index = old.findIndex((condition) => condition.type === type);
    const known = old[index];
    if (known && known.status === status && known.reason === reason && known.message === message) continue;
    changed = true;
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : rfc3339(now);
    const condition: Condition = { type, status, lastTransitionTime, reason, message };
    if (known) next[index] = condition;
    else next.push(condition);
  }
  return changed ? next : undefined;
}

/** ControllerRevisions: the templates a StatefulSet or DaemonSet has had, for rollouts and for `kubectl rollout undo`. */
import type { KubeObject } from '../../../../api/object.ts';
import { clone, equal } from '../../../../apiserver/json.ts';
import { hasReason } from '../../../../apiserver/loops/loop.ts';
import { controllerRef, isControlledBy, type World } from '../world.ts';
import { hashOf, type Template } from './pod-template.ts';

export const REVISIONS = 'apps/controllerrevisions';
export const HASH_LABEL = 'controller-revision-hash';

export function historyOf(world: World, owner: KubeObject): KubeObject[] {
  return world.cache
    .list(REVISIONS, owner.metadata.namespace ?? '')
    .filter((revision) => isControlledBy(revision, owner))
    .sort((a, b) => a.revision - b.revision || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/** The revision of the owner's template as it is now: found, renewed when it came back, or made. */
export async function currentRevision(world: World, owner: KubeObject): Promise<KubeObject> {
  const history = historyOf(world, owner);
  const data = inOrder({ spec: { template: { ...owner.spec.template, $patch: 'replace' } } });
  const next = (history.at(-1)?.revision ?? 0) + 1;
  const same = history.findLast((revision) => equal(revision.data, data));
  if (same) {
    if (same === history.at(-1)) return same;
    return world.update(REVISIONS, same, (draft) => {
      draft.revision = next;
    });
  }
  const { name, namespace } = owner.metadata;
  for (let collisions = owner.status?.collisionCount ?? 0; ; collisions++) {
    const hash = hashOf(data, collisions);
    const revision: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: `${name}-${hash}`,
        namespace,
        labels: { ...owner.spec.template.metadata?.labels, 'controller.kubernetes.io/hash': hash, [HASH_LABEL]: hash },
        ...(owner.metadata.annotations ? { annotations: copied(owner.metadata.annotations) } : {}),
        ownerReferences: [controllerRef(owner)],
      },
      data,
      revision: next,
    };
    try {
      return await world.create(REVISIONS, revision);
    } catch (error) {
      // Another owner's revision has that very name: try the next hash.
      if (!hasReason(error, 'AlreadyExists') || collisions > 10) throw error;
    }
  }
}

/** A copy with its keys sorted: whoever looks for the revision of a template compares the text, as Go writes it. */
function inOrder<T>(value: T): T {
  if (Array.isArray(value)) return value.map(inOrder) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, child]) => [key, inOrder(child)])) as T;
}

function copied(annotations: Record<string, string>): Record<string, string> {
  const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...others } = annotations;
  return others;
}

export function templateOf(revision: KubeObject): Template {
  const { $patch: _, ...template } = clone(revision.data.spec.template);
  return template;
}

/** What pods carry to say which revision they are: DaemonSets use the bare hash, StatefulSets the whole name. */
export function revisionHash(revision: KubeObject): string {
  return revision.metadata.labels?.['controller.kubernetes.io/hash'] ?? '';
}

/** Revisions nobody runs any more, beyond the limit, oldest first. */
export async function trimHistory(world: World, owner: KubeObject, inUse: Set<string>): Promise<void> {
  const idle = historyOf(world, owner).filter(({ metadata }) => !inUse.has(metadata.name as string));
  const limit = owner.spec.revisionHistoryLimit ?? 10;
  for (const revision of idle.slice(0, Math.max(0, idle.length - limit))) await world.remove(REVISIONS, revision);
}

/**
 * Which objects belong to a controller: its own, plus orphans its selector picks (adopted), minus those that no longer
 * match (released). As upstream's ControllerRefManager decides it.
 */
import { type LabelSelector, matchesLabels, selectorFromObject } from '../../../../api/label-selector.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { type Change, keyOf } from '../controller.ts';
import { isDeleting, isFinished, PODS } from '../pod.ts';
import { controllerRef, isControlledBy, type World } from '../world.ts';

export async function claimPods(world: World, owner: KubeObject, selector: LabelSelector): Promise<KubeObject[]> {
  const own = world.cache.podsOf(owner.metadata.uid as string);
  const orphans = world.cache.orphans(owner.metadata.namespace ?? '').filter((pod) => !isFinished(pod));
  return claim(world, PODS, owner, selector, [...own, ...orphans]);
}

export async function claim(
  world: World,
  storage: string,
  owner: KubeObject,
  selector: LabelSelector,
  candidates: KubeObject[],
): Promise<KubeObject[]> {
  const claimed: KubeObject[] = [];
  for (const candidate of candidates) {
    const matches = matchesLabels(selector, candidate.metadata.labels);
    const controller = candidate.metadata.ownerReferences?.find((r) => r.controller);
    if (controller) {
      if (!isControlledBy(candidate, owner)) continue;
      if (matches) claimed.push(candidate);
      else if (!isDeleting(owner)) await release(world, storage, candidate, owner);
    } else if (matches && !isDeleting(owner) && !isDeleting(candidate)) {
      claimed.push(await adopt(world, storage, candidate, owner));
    }
  }
  return claimed;
}

function adopt(world: World, storage: string, object: KubeObject, owner: KubeObject): Promise<KubeObject> {
  return world.update(storage, object, ({ metadata }) => {
    const others = (metadata.ownerReferences ?? []).filter((r) => r.uid !== owner.metadata.uid);
    metadata.ownerReferences = [...others, controllerRef(owner)];
  });
}

async function release(world: World, storage: string, object: KubeObject, owner: KubeObject): Promise<void> {
  if (isDeleting(object)) return;
  await world.update(storage, object, ({ metadata }) => {
    const others = (metadata.ownerReferences ?? []).filter((r) => r.uid !== owner.metadata.uid);
    if (others.length) metadata.ownerReferences = others;
    else delete metadata.ownerReferences;
  });
}

/** Keys of the controllers of that kind which own the changed object, or could adopt it. */
export function claimants(storage: string, kind: string) {
  return function* ({ current, previous }: Change, world: World): Generator<string> {
    for (const stored of [previous, current]) {
      if (!stored) continue;
      const { metadata } = stored.object();
      const owner = metadata.ownerReferences?.find((reference) => reference.controller);
      if (owner) {
        if (owner.kind === kind) yield keyOf({ namespace: metadata.namespace, name: owner.name });
      } else if (stored === current && world.cache.count(storage, metadata.namespace ?? '') > 0) {
        for (const candidate of world.cache.list(storage, metadata.namespace)) {
          const selector = selectorOf(candidate);
          if (selector && matchesLabels(selector, metadata.labels)) yield keyOf(candidate.metadata);
        }
      }
    }
  };
}

/** The selector of a workload; ReplicationControllers have a plain map. */
export function selectorOf({ kind, spec }: KubeObject): LabelSelector | undefined {
  const selector = kind === 'ReplicationController' ? spec?.selector && { matchLabels: spec.selector } : spec?.selector;
  return selectorFromObject(selector);
}

/**
 * One simulated controller as data: which changes concern it, and what it does about one key. It keeps nothing in
 * memory; everything it knows is in the objects, so a tenant may go to sleep between any two steps.
 */
import type { Stored } from '../../../apiserver/store/store.ts';
import type { World } from './world.ts';

/** A change as controllers see it; `current` is absent when the object is gone, `previous` when it is new. */
export interface Change {
  current?: Stored;
  previous?: Stored;
}

/** Keys (`namespace/name`) that a change makes due. */
export type Keys = (change: Change, world: World) => Iterable<string>;

export interface Controller {
  name: string;
  /** By storage name of the resource. Called for every object there is when the simulation starts, too. */
  on: Record<string, Keys>;
  reconcile(world: World, namespace: string, name: string, again: Again): Promise<void> | void;
  /** Keys at a time; writes under way together share a commit. Default 10. */
  concurrency?: number;
}

/** Come back to the key after this many milliseconds, if nothing happens to it before. */
export type Again = (ms: number) => void;

export function keyOf({ namespace, name }: { namespace?: string; name?: string }): string {
  return `${namespace ?? ''}/${name ?? ''}`;
}

/** The object's own key, whatever happened to it. */
export const itself: Keys = ({ current, previous }) => {
  const stored = current ?? previous;
  return stored ? [keyOf(stored.key)] : [];
};

/** The key of the controller of that kind which owns the object, before or after the change. */
export function ownerOf(kind: string): Keys {
  return ({ current, previous }) => {
    const keys = new Set<string>();
    for (const stored of [previous, current]) {
      const meta = stored?.object().metadata;
      const owner = meta?.ownerReferences?.find((reference) => reference.controller);
      if (owner?.kind === kind) keys.add(keyOf({ namespace: meta?.namespace, name: owner.name }));
    }
    return keys;
  };
}

/** Clusters in the world that carry our mark, against the objects that ask for them. What has no mark is not even looked at. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../api/object.ts';
import { systemClock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { isDeleting, isNotFound, listAll, type ObjectStore } from '../kube/index.ts';
import type { ClusterRef, FoundThing, Provisioner } from '../provisioners/provisioner.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import type { Tenants } from '../provisioners/virtual/tenants.ts';
import { systemProcesses } from '../tools/processes.ts';
import type { Connected } from './connect.ts';

export interface Leftover {
  /** The provisioner, or `files`. */
  of: string;
  what: string;
  why: string;
  /** Of which way and which object: a folder stays as long as something of its cluster may be there. */
  way?: string;
  id?: string;
  /** This home knows nothing of it: another home on this machine may. */
  isElsewhere?: boolean;
  remove?(): Promise<{ removed: string[]; why?: string }>;
}

/** What could not be looked at or removed. */
export interface Trouble {
  way?: string;
  id?: string;
  text: string;
}

export function troubleText(error: unknown): string {
  const { message } = error as Error;
  return error instanceof RookeryError && error.hint ? `${message} (${error.hint})` : message;
}

export interface LostThing {
  object: string;
  what: string;
}

type AnyProvisioner = Provisioner<unknown>;

const REMOVAL_PATIENCE_MS = 300_000;

export async function leftoverThings(
  { store, home, signal }: Connected,
  tenants: Tenants | undefined,
): Promise<{ things: Leftover[]; troubles: Trouble[] }> {
  const things: Leftover[] = [];
  const troubles: Trouble[] = [];
  for (const way of clusterWays) {
    // Of a control plane in another process only its files can be seen.
    if (way.fidelity === 'simulated' && !tenants) continue;
    const folder = home.provisioner(way.name);
    const parts = { processes: systemProcesses(), clock: systemClock, folder, ...(tenants ? { tenants } : {}) };
    try {
      const provisioner = (await way.open(parts)) as AnyProvisioner;
      const known = await refsOf(store, way);
      const isKnown = knownIn(way, known);
      const isMissingTool = !(await provisioner.probe(signal)).isUsable;
      // A tool that is not here made nothing here, unless there is a folder that says otherwise.
      if (isMissingTool && known.length === 0 && !existsSync(folder)) continue;
      const found = (await provisioner.inventory(known, signal)).filter((thing) => !isKnown(thing.ref));
      things.push(...clustersOf(found).map((things) => leftover(way, folder, provisioner, things, signal)));
    } catch (error) {
      signal.throwIfAborted();
      troubles.push({ way: way.name, text: troubleText(error) });
    }
  }
  return { things, troubles };
}

/** Objects that have been ready once and whose cluster does not exist any more; a controller would say so too, if one ran. */
export async function lostThings({ store, home, signal }: Connected): Promise<LostThing[]> {
  const lost: LostThing[] = [];
  for (const way of clusterWays.filter((candidate) => candidate.fidelity !== 'simulated')) {
    for (const object of await objectsOf(store, way)) {
      if (!object.status?.initialization?.provisioned || isDeleting(object)) continue;
      const parts = { processes: systemProcesses(), clock: systemClock, folder: home.provisioner(way.name) };
      const provisioner = (await way.open(parts)) as AnyProvisioner;
      try {
        const { phase } = await provisioner.observe(await refOf(store, way, object), signal);
        if (phase === 'absent')
          lost.push({ object: nameOf(object), what: 'its cluster is gone: it is made again, or delete the object' });
        if (phase === 'foreign')
          lost.push({ object: nameOf(object), what: 'its name belongs to a cluster of somebody else now' });
      } catch (error) {
        signal.throwIfAborted();
        lost.push({ object: nameOf(object), what: `cannot be looked at: ${troubleText(error)}` });
      }
    }
  }
  return lost;
}

/** By whose it is; a tenant also by its name, for a copy of one has the same owner. */
function knownIn(way: ClusterWay, known: readonly ClusterRef<unknown>[]): (ref: ClusterRef<unknown>) => boolean {
  const ids = new Set(known.map((ref) => ref.id));
  const names = new Set(known.map((ref) => ref.name));
  return (ref) => ids.has(ref.id) && (way.fidelity !== 'simulated' || names.has(ref.name));
}

/** All things of one cluster together: they are removed together. */
function clustersOf(found: readonly FoundThing<unknown>[]): FoundThing<unknown>[][] {
  const groups = new Map<string, FoundThing<unknown>[]>();
  for (const thing of found) {
    const id = `${thing.ref.id} ${thing.ref.name}`;
    groups.set(id, [...(groups.get(id) ?? []), thing]);
  }
  return [...groups.values()];
}

function leftover(
  way: ClusterWay,
  folder: string,
  provisioner: AnyProvisioner,
  things: FoundThing<unknown>[],
  signal: AbortSignal,
): Leftover {
  const { ref } = things[0] as FoundThing<unknown>;
  const isElsewhere = way.fidelity !== 'simulated' && !existsSync(join(folder, ref.id));
  return {
    of: way.name,
    way: way.name,
    id: ref.id,
    what: things.map((thing) => thing.what).join(', '),
    why: isElsewhere
      ? 'no object here, and this home did not make it'
      : `no object asks for it (its owner was ${ref.id})`,
    ...(isElsewhere ? { isElsewhere } : {}),
    remove: () => removeToTheEnd(provisioner, ref, signal),
  };
}

async function removeToTheEnd(
  provisioner: AnyProvisioner,
  ref: ClusterRef<unknown>,
  signal: AbortSignal,
): Promise<{ removed: string[]; why?: string }> {
  const removed: string[] = [];
  for (const end = Date.now() + REMOVAL_PATIENCE_MS; ; ) {
    const removal = await provisioner.remove(ref, signal);
    removed.push(...removal.removed);
    if (removal.isDone) return { removed };
    if (Date.now() > end) return { removed, why: removal.message };
    await delay(removal.lookAgainMs ?? 1000, undefined, { signal });
  }
}

async function refsOf(store: ObjectStore, way: ClusterWay): Promise<ClusterRef<unknown>[]> {
  return Promise.all((await objectsOf(store, way)).map((object) => refOf(store, way, object)));
}

async function refOf(store: ObjectStore, way: ClusterWay, object: KubeObject): Promise<ClusterRef<unknown>> {
  // What a spec refers to may be gone; the object is no less known for that.
  const access = await way.access?.(store, object).catch(() => undefined);
  return {
    id: object.metadata.uid as string,
    name: way.outsideName(object),
    spec: object.spec,
    // An administrator of this machine runs this command.
    place: 'this machine',
    ...(access ? { access } : {}),
  };
}

async function objectsOf(store: ObjectStore, way: ClusterWay): Promise<KubeObject[]> {
  try {
    return (await listAll(store, way.resource, {})).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}

/**
 * Takes a vcluster out of its host: every object of ours and of vcluster in its namespace, what is outside of namespaces, and the namespace if we made it.
 * Does what can be done now, looks whether anything is left, and says what.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../clock.ts';
import { ignoreNotFound, isForbidden, isNotFound, type ObjectStore, type ResourceRef } from '../../kube/index.ts';
import type { Removal } from '../provisioner.ts';
import * as host from './host-resources.ts';
import { NODE_LABEL, OWNER_LABEL, ownerOf, SYNCED_LABEL, safeName } from './marks.ts';
import { type Place, survey } from './survey.ts';

/** After that long, what still holds something back is named. */
const PATIENCE_MS = 60_000;
/** So long a volume may take; what its provider does not get done then is the host's affair. */
const VOLUME_MS = 120_000;
const LOOK_AGAIN_MS = 500;

const OURS = [
  host.statefulSets,
  host.pods,
  host.services,
  host.secrets,
  host.roleBindings,
  host.roles,
  host.serviceAccounts,
  host.claims,
] as const satisfies ResourceRef[];
const SYNCED = [
  host.pods,
  host.services,
  host.configMaps,
  host.secrets,
  host.claims,
  host.endpointSlices,
  host.ingresses,
  host.networkPolicies,
  host.disruptionBudgets,
  host.serviceAccounts,
] as const satisfies ResourceRef[];
const OUTSIDE = [host.clusterRoleBindings, host.clusterRoles] as const satisfies ResourceRef[];
const SYNCED_OUTSIDE = [host.priorityClasses, host.volumes, host.storageClasses] as const satisfies ResourceRef[];

interface Thing {
  resource: ResourceRef;
  object: KubeObject;
}

export async function removeFromHost(
  store: ObjectStore,
  place: Place,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Removal> {
  const sweep = new Sweep(store, place, signal);
  const { namespace, claim, isNamespaceOurs, foreign } = await survey(store, place, signal);
  const isClaimed = ownerOf(claim) === place.id;
  // Namespaces are given some seconds of grace, and then gone through again and again: better it is empty by then.
  await sweep.inside(isClaimed || isNamespaceOurs);
  await sweep.outside(isClaimed || isNamespaceOurs);
  if (isNamespaceOurs && namespace) await sweep.end({ resource: host.namespaces, object: namespace });
  if (sweep.left.length === 0) await sweep.volumes(clock);
  if (sweep.left.length > 0) return unfinished(sweep, clock, place);
  // Last of all: as long as the claim is there, somebody looks after the place.
  if (isClaimed && claim) await sweep.end({ resource: host.configMaps, object: claim });
  const aside = foreign && sweep.removed.length === 0 ? `; ${foreign}: left alone` : '';
  return {
    isDone: true,
    removed: sweep.removed,
    reason: 'Removed',
    message: `the host has nothing of ${place.name} any more${aside}`,
  };
}

class Sweep {
  readonly removed: string[] = [];
  /** What was still there when it was last looked for. */
  readonly left: Thing[] = [];
  readonly #store: ObjectStore;
  readonly #place: Place;
  readonly #signal: AbortSignal | undefined;

  constructor(store: ObjectStore, place: Place, signal: AbortSignal | undefined) {
    this.#store = store;
    this.#place = place;
    this.#signal = signal;
  }

  /** All at once; what the syncer makes while it is being stopped is found the next time. */
  async inside(isOurs: boolean): Promise<void> {
    const { id, name } = this.#place;
    const found = await Promise.all([
      ...OURS.map((resource) => this.#find(resource, `${OWNER_LABEL}=${id}`)),
      ...(isOurs ? SYNCED.map((resource) => this.#find(resource, `${SYNCED_LABEL}=${name}`)) : []),
      ...(isOurs ? [this.#find(host.services, `${NODE_LABEL}=${name}`), this.#written()] : []),
    ]);
    await this.#remove(found.flat());
    this.left.push(...found.flat());
  }

  /** The one that everything else was in. */
  async end(thing: Thing): Promise<void> {
    await this.#remove([thing]);
    if (thing.resource === host.namespaces) this.left.push(thing);
  }

  async outside(isOurs: boolean): Promise<void> {
    const { id, name, namespace } = this.#place;
    const found = await Promise.all(OUTSIDE.map((resource) => this.#find(resource, `${OWNER_LABEL}=${id}`)));
    if (isOurs) {
      const label = `${SYNCED_LABEL}=${safeName(namespace, 'x', name)}`;
      found.push(...(await Promise.all(SYNCED_OUTSIDE.map((resource) => this.#find(resource, label)))));
    }
    await this.#remove(found.flat());
    this.left.push(...found.flat());
  }

  /** Volumes that lost their claim and are being deleted by whoever provides them: known by the claim they had, for a while. */
  async volumes(clock: Clock): Promise<void> {
    const { name, namespace } = this.#place;
    const all = await this.#find(host.volumes, '');
    const going = all.filter(({ object: { spec, status } }) => {
      const { namespace: home, name: claim = '' } = spec?.claimRef ?? {};
      const isOfCluster = home === namespace && (claim === `data-${name}-0` || claim.endsWith(`-x-${name}`));
      const isGoing = spec?.persistentVolumeReclaimPolicy === 'Delete' && status?.phase === 'Released';
      return isOfCluster && isGoing && clock.now() - Date.parse(status.lastPhaseTransitionTime) < VOLUME_MS;
    });
    this.left.push(...going);
  }

  async #remove(things: Thing[]): Promise<void> {
    await Promise.all(things.map((thing) => this.#delete(thing)));
  }

  /** Secrets that vcluster writes for itself. */
  async #written(): Promise<Thing[]> {
    const { name, namespace } = this.#place;
    const found = await Promise.all(
      [`vc-${name}`, `${name}-certs`].map((secret) =>
        this.#store.get(host.secrets, { namespace, name: secret }, { signal: this.#signal }).catch(ignoreNotFound),
      ),
    );
    return found.filter((object) => object !== undefined).map((object) => ({ resource: host.secrets, object }));
  }

  async #find(resource: ResourceRef, labelSelector: string): Promise<Thing[]> {
    const where = resource.namespaced ? { namespace: this.#place.namespace } : {};
    const found = await this.#store.list(resource, { ...where, labelSelector, signal: this.#signal }).catch((error) => {
      // Who may not even look cannot have made any; and a host need not serve every kind.
      if (isForbidden(error) || isNotFound(error)) return { items: [] };
      throw error;
    });
    return found.items.map((object) => ({ resource, object }));
  }

  async #delete({ resource, object }: Thing): Promise<void> {
    const { name = '', namespace, uid, deletionTimestamp } = object.metadata;
    const isPod = resource === host.pods;
    if (deletionTimestamp && !isPod) return;
    await this.#store
      .delete(resource, namespace ? { namespace, name } : { name }, {
        signal: this.#signal,
        propagationPolicy: 'Background',
        ...(uid ? { preconditions: { uid } } : {}),
        // What they could still save goes with the cluster.
        ...(isPod ? { gracePeriodSeconds: 1 } : {}),
      })
      .catch(ignoreNotFound);
    if (!deletionTimestamp) this.removed.push(textOf(object));
  }
}

function unfinished({ removed, left }: Sweep, clock: Clock, place: Place): Removal {
  const answer = { isDone: false, removed, lookAgainMs: LOOK_AGAIN_MS };
  const stuck = left.filter(({ object }) => {
    const since = object.metadata.deletionTimestamp;
    return since !== undefined && clock.now() - Date.parse(since) > PATIENCE_MS;
  });
  if (stuck.length === 0) {
    const message = `${left.length} things of ${place.name} are going: ${names(left)}`;
    return { ...answer, reason: 'Removing', message, next: 'looked for again' };
  }
  return {
    ...answer,
    reason: 'Stuck',
    message: `the host does not let go of ${names(stuck)}: ${stuck.map(({ object }) => whyStaying(object)).join('; ')}`,
    next: 'whoever put those finalizers there has to finish; looked for again',
    lookAgainMs: 10_000,
  };
}

const names = (things: Thing[]): string =>
  things
    .slice(0, 5)
    .map(({ object }) => textOf(object))
    .join(', ') + (things.length > 5 ? ', …' : '');

/** Namespaces say themselves what keeps them. */
function whyStaying(object: KubeObject): string {
  const conditions = (object.status?.conditions ?? []) as { status: string; type: string; message?: string }[];
  const said = conditions.filter((c) => c.status === 'True' && /Remaining|Failure/.test(c.type)).map((c) => c.message);
  const finalizers = [...(object.metadata.finalizers ?? []), ...(object.spec?.finalizers ?? [])];
  return said.join('; ') || `finalizers ${finalizers.join(', ') || 'none'}`;
}

export const textOf = (object: KubeObject): string => {
  const { namespace, name } = object.metadata;
  return `${object.kind} ${namespace ? `${namespace}/` : ''}${name}`;
};

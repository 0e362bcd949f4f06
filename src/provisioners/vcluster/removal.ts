/**
 * Takes a vcluster out of its host: the whole namespace if we made it, else every object of ours and of vcluster in it; and what is outside of namespaces.
 * Does what can be done now, looks whether anything is left, and says what.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../clock.ts';
import { ignoreNotFound, isForbidden, isNotFound, type ObjectStore, type ResourceRef } from '../../kube/index.ts';
import type { Removal } from '../provisioner.ts';
import { labelText } from './diagnosis.ts';
import * as host from './host-resources.ts';
import { OWNER_LABEL, ownerOf, SYNCED_LABEL, safeName } from './marks.ts';
import { selectorOf } from './objects.ts';
import { type Place, survey } from './survey.ts';

/** After that long, what still holds something back is named. */
const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 500;

const OURS = [
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
  if (isNamespaceOurs && namespace) await sweep.namespace(namespace);
  else await sweep.shared(isClaimed);
  await sweep.outside(isClaimed || isNamespaceOurs);
  if (sweep.left.length > 0) return unfinished(sweep, clock, place);
  // Last of all: as long as the claim is there, somebody looks after the place.
  if (isClaimed && !isNamespaceOurs) await sweep.remove([{ resource: host.configMaps, object: claim as KubeObject }]);
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

  /** All of it at once; its control plane has nothing left to save. */
  async namespace(namespace: KubeObject): Promise<void> {
    const { name } = this.#place;
    const isFirst = !namespace.metadata.deletionTimestamp;
    this.left.push({ resource: host.namespaces, object: namespace });
    await this.#delete({ resource: host.namespaces, object: namespace });
    if (isFirst) await this.#kill(await this.#find(host.pods, labelText(selectorOf(name))));
  }

  /** The syncer first: while it runs, it takes the end of a pod for the end of what is in its cluster. */
  async shared(isClaimed: boolean): Promise<void> {
    const { id, name } = this.#place;
    const ours = `${OWNER_LABEL}=${id}`;
    await this.remove(await this.#find(host.statefulSets, ours));
    const own = await this.#find(host.pods, ours);
    await this.#kill(own);
    this.left.push(...own);
    if (own.length > 0) return;
    const found = await Promise.all(OURS.map((resource) => this.#find(resource, ours)));
    if (isClaimed) {
      found.push(...(await Promise.all(SYNCED.map((resource) => this.#find(resource, `${SYNCED_LABEL}=${name}`)))));
      found.push(await this.#written());
    }
    const all = found.flat();
    await this.remove(all);
    this.left.push(...all);
  }

  async outside(isOurs: boolean): Promise<void> {
    const { id, name, namespace } = this.#place;
    const found = await Promise.all(OUTSIDE.map((resource) => this.#find(resource, `${OWNER_LABEL}=${id}`)));
    if (isOurs) {
      const label = `${SYNCED_LABEL}=${safeName(namespace, 'x', name)}`;
      found.push(...(await Promise.all(SYNCED_OUTSIDE.map((resource) => this.#find(resource, label)))));
    }
    await this.remove(found.flat());
    this.left.push(...found.flat());
  }

  async remove(things: Thing[]): Promise<void> {
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

  async #kill(things: Thing[]): Promise<void> {
    await Promise.all(things.map((thing) => this.#delete(thing, 1)));
  }

  async #delete({ resource, object }: Thing, gracePeriodSeconds?: number): Promise<void> {
    const { name = '', namespace, uid, deletionTimestamp } = object.metadata;
    if (deletionTimestamp && gracePeriodSeconds === undefined) return;
    await this.#store
      .delete(resource, namespace ? { namespace, name } : { name }, {
        signal: this.#signal,
        propagationPolicy: 'Background',
        ...(uid ? { preconditions: { uid } } : {}),
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      })
      .catch(ignoreNotFound);
    if (!deletionTimestamp && object.kind !== 'Pod') this.removed.push(textOf(object));
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

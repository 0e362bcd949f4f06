/** Where virtual clusters live: tenants of an embedded API server. The server's process implements it. */
import type { RookeryError } from '../../errors.ts';
import type { ObservedNode, ObservedStorage, StoreDecision } from '../provisioner.ts';

export interface TenantShape {
  /** How many simulated nodes of each kind. */
  controlPlanes: number;
  nodes: number;
  /** How much it may store; what is left out is up to the operator. */
  storage?: Partial<StorageAmounts>;
}

export interface StorageAmounts {
  bytes: number;
  objects: number;
}

export type { StoreDecision } from '../provisioner.ts';

export interface Tenants {
  /**
   * Makes the tenant, or finds and wakes it, and gives it these nodes. Whose it is is written down before anything is made. Throws `store.missing` or
   * `store.damaged` for one whose store is lost (`wasReady`: it has been there once), unless a person has decided what shall become of it.
   */
  ensure(
    name: string,
    owner: string,
    shape: TenantShape,
    state?: { wasReady?: boolean; decision?: StoreDecision },
  ): Promise<void>;
  /** That its store is lost or damaged. */
  damage(name: string): RookeryError | undefined;
  /** Uid of the object a tenant belongs to; undefined when there is none, or when nobody knows. */
  owner(name: string): Promise<string | undefined>;
  /** Also true for what a crash left of one. */
  has(name: string): boolean;
  isWhole(name: string): boolean;
  /** Its API is refused and its time stands still until it is ensured again. */
  suspend(name: string): Promise<void>;
  isSuspended(name: string): boolean;
  /** Keeps the state of now under a label; false while it still changes: ask again soon. One that was kept stays. */
  snapshot(name: string, label: string): Promise<boolean>;
  /** Brings it back; false when there is none. The tenant's kubeconfig stays valid. */
  restore(name: string, label: string): Promise<boolean>;
  nodes(name: string): Promise<ObservedNode[]>;
  /** What it stores and may store; undefined while it is asleep. */
  storage(name: string): ObservedStorage | undefined;
  /** The most a tenant can be given. */
  readonly storageMax: StorageAmounts;
  /** Removes everything of it; no error when there is none. */
  remove(name: string): Promise<void>;
  names(): string[];
  kubeconfig(name: string): Promise<string>;
  url(name: string): string;
}

/**
 * The tenant of a cluster. In the namespace `default` it is the cluster's own name; elsewhere the namespace comes
 * first. No two clusters share one: a namespace has no dots, so the part before the first dot is always a namespace.
 */
export function tenantName(namespace: string, name: string): string {
  return namespace === 'default' && !name.includes('.') ? name : `${namespace}.${name}`;
}

/** The cluster of a tenant. */
export function tenantKey(tenant: string): { namespace: string; name: string } {
  const dot = tenant.indexOf('.');
  return dot < 0
    ? { namespace: 'default', name: tenant }
    : { namespace: tenant.slice(0, dot), name: tenant.slice(dot + 1) };
}

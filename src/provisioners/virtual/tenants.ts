/** Where virtual clusters live: tenants of an embedded API server. The server's process implements it. */
export interface Tenants {
  /** Makes the tenant, or finds it; remembers whose it is. It has that many simulated nodes then. */
  ensure(name: string, owner: string, nodes?: number): Promise<void>;
  /** Uid of the object a tenant belongs to. */
  owner(name: string): Promise<string | undefined>;
  has(name: string): boolean;
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

/** Tenants of the embedded server, as the virtual provisioner asks for them. */
import { furnish } from '../provisioners/virtual/simulation/furnish.ts';
import type { Tenants } from '../provisioners/virtual/tenants.ts';
import type { ControlPlane } from './control-plane.ts';

/** Nodes of a virtual cluster that does not say; its schema tells users the same. */
const DEFAULT_NODES = 2;

export class TenantHost implements Tenants {
  readonly #plane: Pick<ControlPlane, 'clusters' | 'kubeconfig' | 'urlOf'>;

  constructor(plane: Pick<ControlPlane, 'clusters' | 'kubeconfig' | 'urlOf'>) {
    this.#plane = plane;
  }

  async ensure(name: string, owner: string, nodes = DEFAULT_NODES): Promise<void> {
    const cluster = await this.#plane.clusters.ensure(name);
    if (cluster.store.meta.get('owner') !== owner) cluster.store.meta.set('owner', owner);
    await furnish(cluster, nodes);
  }

  /** Whose it is; undefined when there is none. */
  async owner(name: string): Promise<string | undefined> {
    return (await this.#plane.clusters.get(name))?.store.meta.get('owner');
  }

  has(name: string): boolean {
    return this.#plane.clusters.has(name);
  }

  async remove(name: string): Promise<void> {
    await this.#plane.clusters.drop(name);
  }

  names(): string[] {
    return this.#plane.clusters.list();
  }

  kubeconfig(name: string): Promise<string> {
    return this.#plane.kubeconfig(name);
  }

  url(name: string): string {
    return this.#plane.urlOf(name);
  }
}

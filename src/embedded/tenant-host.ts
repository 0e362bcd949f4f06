/** Tenants of the embedded server, as the virtual provisioner asks for them. */
import { furnish } from '../provisioners/virtual/simulation/furnish.ts';
import type { Tenants } from '../provisioners/virtual/tenants.ts';
import type { EmbeddedServer } from './embedded-server.ts';

/** Nodes of a virtual cluster that does not say; its schema tells users the same. */
const DEFAULT_NODES = 2;

export class TenantHost implements Tenants {
  readonly #server: Pick<EmbeddedServer, 'clusters' | 'kubeconfig' | 'urlOf'>;

  constructor(server: Pick<EmbeddedServer, 'clusters' | 'kubeconfig' | 'urlOf'>) {
    this.#server = server;
  }

  async ensure(name: string, owner: string, nodes = DEFAULT_NODES): Promise<void> {
    const cluster = await this.#server.clusters.ensure(name);
    if (cluster.store.meta.get('owner') !== owner) cluster.store.meta.set('owner', owner);
    await furnish(cluster, nodes);
  }

  /** Whose it is; undefined when there is none. */
  async owner(name: string): Promise<string | undefined> {
    return (await this.#server.clusters.get(name))?.store.meta.get('owner');
  }

  has(name: string): boolean {
    return this.#server.clusters.has(name);
  }

  async remove(name: string): Promise<void> {
    await this.#server.clusters.drop(name);
  }

  names(): string[] {
    return this.#server.clusters.list();
  }

  kubeconfig(name: string): Promise<string> {
    return this.#server.kubeconfig(name);
  }

  url(name: string): string {
    return this.#server.urlOf(name);
  }
}

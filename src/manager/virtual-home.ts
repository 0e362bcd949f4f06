/**
 * Where virtual clusters live when the control plane is somebody else's API server: an embedded server in the manager's own process that
 * serves nothing but tenants. Only the leader opens it, since a folder has one owner.
 */
import { EmbeddedServer, type EmbeddedServerOptions } from '../embedded/embedded-server.ts';
import { TenantHost } from '../embedded/tenant-host.ts';
import { RookeryError } from '../errors.ts';
import type { Tenants } from '../provisioners/virtual/tenants.ts';

export class VirtualHome {
  /** For controllers, which are made before it is open and work only while it is. */
  readonly tenants: Tenants;
  readonly #options: Omit<EmbeddedServerOptions, 'hasRoot'>;
  #host: TenantHost | undefined;

  constructor(options: Omit<EmbeddedServerOptions, 'hasRoot'>) {
    this.#options = options;
    this.tenants = standIn<Tenants>(() => this.#open);
  }

  /** Answers how to close it. */
  async open(): Promise<() => Promise<void>> {
    const flags = { host: '--virtual-host', port: '--virtual-port' };
    const server = await EmbeddedServer.start({ ...this.#options, hasRoot: false, flags });
    this.#host = new TenantHost(server);
    this.#options.log?.info('virtual clusters are served', { url: server.url, folder: server.home.data });
    return async () => {
      this.#host = undefined;
      await server.close();
    };
  }

  get #open(): Tenants {
    if (this.#host) return this.#host;
    throw new RookeryError('virtual.closed', 'the server of virtual clusters is not open', { class: 'retryable' });
  }
}

/** Stands for an object that comes later: its members are those of what `find` answers when they are used. */
function standIn<T extends object>(find: () => T): T {
  return new Proxy({} as T, {
    get(_, name) {
      const object = find();
      const member = Reflect.get(object, name);
      return typeof member === 'function' ? member.bind(object) : member;
    },
  });
}

/**
 * The embedded home of Rookery: API server, kinds and controllers in one process, on one folder, with nothing else
 * installed. `rookery up` runs it; tests start as many as they like.
 */
import { type Clusters, LOOPBACK, ROOT } from '../apiserver/index.ts';
import { type Clock, type Random, systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { addControllers } from '../controllers/index.ts';
import { Manager } from '../kube/index.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { type Processes, systemProcesses } from '../tools/processes.ts';
import { writePrivate } from '../vault/files.ts';
import { EmbeddedServer } from './embedded-server.ts';
import type { Home } from './home.ts';
import { InProcessStore } from './in-process-store.ts';
import { installCrds } from './install-crds.ts';
import { TenantHost } from './tenant-host.ts';

export interface ControlPlaneOptions {
  config: Config;
  clock?: Clock;
  random?: Random;
  log?: Logger;
  metrics?: Metrics;
  /** How programs outside are run. */
  processes?: Processes;
}

export class ControlPlane {
  /** The root cluster's objects. */
  readonly store: InProcessStore;
  readonly #server: EmbeddedServer;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  private constructor(server: EmbeddedServer, options: ControlPlaneOptions) {
    this.#server = server;
    this.store = new InProcessStore({ cluster: () => server.cluster(ROOT), identity: LOOPBACK });
    const { clock = systemClock, random, log, metrics, processes = systemProcesses() } = options;
    const manager = new Manager({ store: this.store, clock, random, log, metrics });
    const tenants = new TenantHost(server);
    const open = (way: ClusterWay) => way.open({ processes, clock, folder: this.home.provisioner(way.name), tenants });
    addControllers(manager, { store: this.store, open });
    this.#running = manager.run(this.#stop.signal);
    // Reported by close(); until then a failed controller must not take the API down with it.
    this.#running.catch((error) => log?.error('the controllers stopped', { error: String(error) }));
  }

  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const server = await EmbeddedServer.start({ ...options, hasRoot: true });
    try {
      await installCrds(await server.clusters.ensure(ROOT));
      const plane = new ControlPlane(server, options);
      await writePrivate(server.home.kubeconfig, await server.kubeconfig(ROOT));
      return plane;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  get home(): Home {
    return this.#server.home;
  }

  /** `https://host:port`, without a trailing slash. */
  get url(): string {
    return this.#server.url;
  }

  get clusters(): Clusters {
    return this.#server.clusters;
  }

  /** Where clients find a cluster. */
  urlOf(name: string): string {
    return this.#server.urlOf(name);
  }

  /** The administrator's kubeconfig of a cluster. Throws when there is no such cluster. */
  kubeconfig(name: string): Promise<string> {
    return this.#server.kubeconfig(name);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the control plane stops'));
    const [controllers] = await Promise.allSettled([this.#running]);
    await this.#server.close();
    if (controllers.status === 'rejected') throw controllers.reason;
  }
}

/**
 * The embedded home of Rookery: API server, kinds and controllers in one process, on one folder, with nothing else
 * installed. `rookery up` runs it; tests start as many as they like.
 */
import { type Clusters, LOOPBACK, type OwnPaths, ROOT, VERSION } from '../apiserver/index.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import type { Config } from '../config.ts';
import { addControllers } from '../controllers/index.ts';
import { linksBefore } from '../controllers/workspace/link-records.ts';
import { RookeryError } from '../errors.ts';
import { Manager, type ObjectKey, type ObjectStore } from '../kube/index.ts';
import type { HostPolicy } from '../provisioners/host-policy.ts';
import type { Provisioner } from '../provisioners/provisioner.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { tenantKey } from '../provisioners/virtual/tenants.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { cloneFiles } from '../tools/clone-file.ts';
import { type Processes, systemProcesses } from '../tools/processes.ts';
import { keepPrivate } from '../vault/files.ts';
import { LinkKeys } from '../vault/link-keys.ts';
import type { Workload } from '../workloads/workload.ts';
import { backupRequestController } from './backup/requests.ts';
import { embeddedHostPolicy } from './embedded-host-policy.ts';
import { EmbeddedServer } from './embedded-server.ts';
import type { Home } from './home.ts';
import { InProcessStore } from './in-process-store.ts';
import { installCrds } from './install-crds.ts';
import { refuseLostLinkKey } from './lost-keys.ts';
import type { StorageLimits } from './storage-limits.ts';
import { reportStorage } from './storage-reports.ts';
import { TenantHost } from './tenant-host.ts';
import { Vault } from './vault.ts';
import { serveVault } from './vault-requests.ts';
import { type Terminals, WorkspaceHost } from './workspace-host.ts';

export interface ControlPlaneOptions {
  config: Config;
  clock?: Clock;
  random?: Random;
  log?: Logger;
  metrics?: Metrics;
  /** How programs outside are run. */
  processes?: Processes;
  /** Serves the terminals of workspaces; without it they have none. */
  terminals?(parts: TerminalParts): Promise<Terminals>;
}

export interface TerminalParts {
  store: ObjectStore;
  host: WorkspaceHost;
  home: Home;
  /** Those that the vault exchanges. */
  linkKeys: LinkKeys;
}

/** Setting of the root store: links into workspaces were signed with a key that must not be replaced silently. */
const HAS_LINK_KEY = 'links.key';

interface PlaneParts {
  server: EmbeddedServer;
  vault: Vault;
  store: InProcessStore;
  host: WorkspaceHost;
  // biome-ignore lint/suspicious/noExplicitAny: each way has a spec of its own.
  open(way: ClusterWay): Promise<Provisioner<any>>;
  terminals: Terminals | undefined;
  policy: HostPolicy;
}

export class ControlPlane {
  /** The root cluster's objects. */
  readonly store: InProcessStore;
  readonly vault: Vault;
  readonly #server: EmbeddedServer;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #endReports: () => void;

  readonly #terminals: Terminals | undefined;
  /** Where shells of workspaces run. */
  readonly workloads: readonly Workload[];

  private constructor(parts: PlaneParts, options: ControlPlaneOptions) {
    const { server, vault, store, host, open, terminals, policy } = parts;
    this.#server = server;
    this.vault = vault;
    this.store = store;
    this.#terminals = terminals;
    this.workloads = host.workloads;
    const { clock = systemClock, random, log, metrics } = options;
    const { home, clusters, storageLimits } = server;
    this.#endReports = reportStorage({ store, clusters, limits: storageLimits, clock, log });
    const manager = new Manager({ store, clock, random, log, metrics });
    const onTrouble = (way: ClusterWay, tell: (key: ObjectKey) => void) => {
      if (way.fidelity === 'simulated') server.clusters.onTrouble((tenant) => tell(tenantKey(tenant)));
    };
    addControllers(manager, { store, host: policy, open, onTrouble, workspaces: host.parts(terminals) });
    manager.addController(backupRequestController(store, { home, clusters, version: VERSION.gitVersion }));
    this.#running = manager.run(this.#stop.signal);
    // Reported by close(); until then a failed controller must not take the API down with it.
    this.#running.catch((error) => log?.error('the controllers stopped', { error: String(error) }));
  }

  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { clock = systemClock, random = systemRandom, log = silentLogger, processes = systemProcesses() } = options;
    let vault: Vault | undefined;
    const ownPaths: OwnPaths = { rookery: async (request) => serveVault(vault ?? notYet(), request) };
    const cloneFile = cloneFiles(processes);
    const policy = embeddedHostPolicy(options.config);
    const { folders } = policy;
    const server = await EmbeddedServer.start({ ...options, hasRoot: true, folders, cloneFile, ownPaths });
    const { home } = server;
    let opened: Promise<LinkKeys> | undefined;
    const linkKeys = () => {
      opened ??= LinkKeys.open(home.linkKey, clock, random);
      return opened;
    };
    let terminals: Terminals | undefined;
    try {
      const root = await server.clusters.ensure(ROOT);
      await installCrds(root);
      const store = new InProcessStore({ cluster: () => server.cluster(ROOT), identity: LOOPBACK });
      const tenants = new TenantHost(server);
      const open = (way: ClusterWay) =>
        way.open({ processes, clock, folder: home.provisioner(way.name), tenants, folders });
      const lastCallAt = (tenant: string, user?: string) => server.clusters.lastCalls.at(tenant, user);
      const host = new WorkspaceHost({ home, clock, processes, apiServer: server.url, open, lastCallAt });
      if (options.terminals) {
        refuseLostLinkKey(home, root.store.meta.get(HAS_LINK_KEY) !== undefined);
        terminals = await options.terminals({ store, host, home, linkKeys: await linkKeys() });
        if (root.store.meta.get(HAS_LINK_KEY) === undefined) root.store.meta.set(HAS_LINK_KEY, 'yes');
      }
      vault = new Vault({
        ...{ home, clock, log, linkKeys },
        keyring: server.keyring,
        clusters: server.clusters,
        pki: () => server.pki,
        serveWith: (authority) => server.serveWith(authority),
        endConnectionsOf: (serial) => server.endConnectionsOf(serial),
        linksBefore: (moment) => linksBefore(store, moment, clock.now()),
      });
      const plane = new ControlPlane({ server, vault, store, host, open, terminals, policy }, options);
      await keepPrivate(home.kubeconfig, await server.kubeconfig(ROOT));
      await vault.resume();
      return plane;
    } catch (error) {
      await terminals?.close();
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

  get storageLimits(): StorageLimits {
    return this.#server.storageLimits;
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
    this.#endReports();
    this.#stop.abort(new Error('the control plane stops'));
    await this.vault.close();
    const [controllers] = await Promise.allSettled([this.#running]);
    await this.#terminals?.close();
    await this.#server.close();
    if (controllers.status === 'rejected') throw controllers.reason;
  }
}

function notYet(): never {
  throw new RookeryError('control-plane.starting', 'the control plane is starting', { class: 'retryable' });
}

/**
 * The embedded home of Rookery: API server, kinds and controllers in one process, on one folder, with nothing else
 * installed. `rookery up` runs it; tests start as many as they like.
 */
import { networkInterfaces } from 'node:os';
import { ApiServer, type Cluster, Clusters, LOOPBACK, ROOT } from '../apiserver/index.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import type { Config } from '../config.ts';
import { addControllers } from '../controllers/index.ts';
import { RookeryError } from '../errors.ts';
import { Manager } from '../kube/index.ts';
import { KindProvisioner } from '../provisioners/kind/kind-provisioner.ts';
import { simulation } from '../provisioners/virtual/simulation/index.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { type Metrics, noMetrics } from '../telemetry/metrics.ts';
import { type Processes, systemProcesses } from '../tools/processes.ts';
import { writePrivate } from '../vault/files.ts';
import { Keyring } from '../vault/keyring.ts';
import { storeSealer } from '../vault/sealer.ts';
import { clientCertificates } from './client-certificates.ts';
import { Home } from './home.ts';
import { InProcessStore } from './in-process-store.ts';
import { installCrds } from './install-crds.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { ensurePki, type Pki } from './pki.ts';
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
  readonly home: Home;
  /** `https://host:port`, without a trailing slash. */
  readonly url: string;
  readonly clusters: Clusters;
  /** The root cluster's objects. */
  readonly store: InProcessStore;
  readonly #server: ApiServer;
  readonly #pki: Pki;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  private constructor(parts: {
    home: Home;
    url: string;
    clusters: Clusters;
    server: ApiServer;
    pki: Pki;
    options: ControlPlaneOptions;
  }) {
    this.home = parts.home;
    this.url = parts.url;
    this.clusters = parts.clusters;
    this.#server = parts.server;
    this.#pki = parts.pki;
    this.store = new InProcessStore({ cluster: () => this.#cluster(ROOT), identity: LOOPBACK });
    const { clock = systemClock, random, log, metrics, processes = systemProcesses() } = parts.options;
    const manager = new Manager({ store: this.store, clock, random, log, metrics });
    const kind = new KindProvisioner({ processes, clock, folder: this.home.provisioner('kind') });
    addControllers(manager, { store: this.store, tenants: new TenantHost(this), kind });
    this.#running = manager.run(this.#stop.signal);
    // Reported by close(); until then a failed controller must not take the API down with it.
    this.#running.catch((error) => log?.error('the controllers stopped', { error: String(error) }));
  }

  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { config, clock = systemClock, random = systemRandom, log = silentLogger, metrics = noMetrics } = options;
    const home = new Home(config.home);
    const [keyring, pki] = await Promise.all([Keyring.open(home.keyring, random), ensurePki(home, config.host, clock)]);
    let port = config.port;
    const clusters = new Clusters({
      folder: home.data,
      clock,
      random,
      serverCa: pki.ca.cert,
      certificates: clientCertificates(clock),
      synchronous: config.durability,
      sealer: (meta, owner) => storeSealer(keyring, meta, owner, random),
      endpoint: () => ({ address: reachableAddress(config.host), port }),
      loops: [simulation],
    });
    const server = new ApiServer({
      clusters,
      tls: pki.server,
      host: config.host,
      port: config.port,
      metrics: () => metrics.render().body,
      onError: (error, request) => log.error('request failed', { ...request, error: describe(error) }),
    });
    try {
      ({ port } = await listen(server, config));
      const root = await clusters.ensure(ROOT);
      await installCrds(root);
      const url = `https://${urlHost(config.host)}:${port}`;
      const plane = new ControlPlane({
        home,
        url,
        clusters,
        server,
        pki,
        options: { ...options, clock, random, log, metrics },
      });
      await writePrivate(home.kubeconfig, await plane.kubeconfig(ROOT));
      return plane;
    } catch (error) {
      await server.close();
      await clusters.close();
      throw error;
    }
  }

  /** Where clients find a cluster. */
  urlOf(name: string): string {
    return name === ROOT ? this.url : `${this.url}/clusters/${name}`;
  }

  /** The administrator's kubeconfig of a cluster. Throws when there is no such cluster. */
  async kubeconfig(name: string): Promise<string> {
    const cluster = await this.#cluster(name);
    return kubeconfigText({
      name: name === ROOT ? 'rookery' : name,
      server: this.urlOf(name),
      caPem: this.#pki.ca.cert,
      token: cluster.credentials.adminToken,
    });
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the control plane stops'));
    const [controllers] = await Promise.allSettled([this.#running]);
    await this.#server.close();
    await this.clusters.close();
    if (controllers.status === 'rejected') throw controllers.reason;
  }

  async #cluster(name: string): Promise<Cluster> {
    const cluster = await this.clusters.get(name);
    if (!cluster)
      throw new RookeryError('cluster.missing', `there is no cluster ${JSON.stringify(name)}`, { class: 'user' });
    return cluster;
  }
}

async function listen(server: ApiServer, config: Config): Promise<{ port: number }> {
  try {
    return await server.listen();
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, config);
  }
}

function cannotListen(error: NodeJS.ErrnoException, { host, port }: Config): unknown {
  const user = (message: string, hint: string) =>
    new RookeryError('up.port', message, { class: 'user', hint, cause: error });
  switch (error.code) {
    case 'EADDRINUSE':
      return user(`port ${port} on ${host} is taken`, 'choose another with --port (0 means any free one)');
    case 'EACCES':
      return user(`port ${port} on ${host} is not for everyone`, 'choose one above 1023 with --port');
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return user(`${host} is no address of this machine`, 'choose another with --host, e.g. 127.0.0.1 or 0.0.0.0');
    default:
      return error;
  }
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Endpoints may not carry loopback addresses: the machine's own, or one reserved for documentation. */
function reachableAddress(host: string): string {
  if (!/^(127\.|::1$|localhost$|0\.0\.0\.0$|::$)/.test(host)) return host;
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find((a) => a.family === 'IPv4' && !a.internal);
    if (found) return found.address;
  }
  return '192.0.2.1';
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

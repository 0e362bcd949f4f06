/**
 * The embedded API server on one folder: keys, certificates, clusters, HTTPS in front. The control plane puts a root cluster and
 * controllers on it; a manager in a Kubernetes cluster serves nothing but tenants with it.
 */
import { existsSync, statfsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import {
  ApiError,
  ApiServer,
  type Cluster,
  ClusterRoom,
  Clusters,
  Disk,
  type OwnPaths,
  Reserve,
  ROOT,
  serverNameOf,
} from '../apiserver/index.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import { type Config, DEFAULT_STORAGE } from '../config.ts';
import { clusterApiAdmission } from '../controllers/core/admission/plugin.ts';
import { guardedFields } from '../controllers/guarded-fields.ts';
import { hostAdmission } from '../controllers/host-admission.ts';
import { workspaceAdmission } from '../controllers/workspace/admission.ts';
import { RookeryError } from '../errors.ts';
import { HostFolders } from '../machines/host-folders.ts';
import { simulation } from '../provisioners/virtual/simulation/index.ts';
import { tenantKey } from '../provisioners/virtual/tenants.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { type Metrics, noMetrics } from '../telemetry/metrics.ts';
import { Keyring } from '../vault/keyring.ts';
import { storeSealer } from '../vault/sealer.ts';
import type { Authority } from './authority.ts';
import { finishRestore } from './backup/restore-home.ts';
import { clientCertificates } from './client-certificates.ts';
import { Home } from './home.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { refuseLostKeys } from './lost-keys.ts';
import { ensurePki, type Pki, servingPki } from './pki.ts';
import { StorageLimits } from './storage-limits.ts';
import { TenantRecords } from './tenant-records.ts';
import { makeHome } from './usable-home.ts';

export interface EmbeddedServerOptions {
  config: Pick<Config, 'home' | 'host' | 'port' | 'durability'> &
    Partial<Pick<Config, 'publicUrl' | 'storage' | 'trustedProxies'>>;
  /** Where clients reach it, when that is not where it listens: `https://virtual.rookery-system.svc:7443`. */
  advertise?: string;
  /** False: tenants only. */
  hasRoot: boolean;
  /** Folders of this machine that clusters of the root may be given. Default: none. */
  folders?: HostFolders;
  /** What people call host and port, for hints. Default `--host` and `--port`. */
  flags?: { host: string; port: string };
  clock?: Clock;
  random?: Random;
  log?: Logger;
  metrics?: Metrics;
  /** Copies a file without copying its blocks, for snapshots. */
  cloneFile?: ConstructorParameters<typeof Clusters>[0]['cloneFile'];
  /** What the root serves beside Kubernetes' own paths. */
  ownPaths?: OwnPaths;
}

export class EmbeddedServer {
  readonly home: Home;
  /** `https://host:port`, without a trailing slash. */
  readonly url: string;
  readonly clusters: Clusters;
  readonly storageLimits: StorageLimits;
  readonly #server: ApiServer;
  readonly #disk: Disk;
  readonly keyring: Keyring;
  #pki: Pki;
  /** With the serving certificate of another CA. */
  readonly #pkiOf: (authority: Authority) => Promise<Pki>;
  readonly #isAdvertised: boolean;
  /** Administrators' tokens that were asked for: reading one may mean opening a file. */
  readonly #tokens = new Map<string, string>();

  private constructor(parts: {
    home: Home;
    url: string;
    isAdvertised: boolean;
    clusters: Clusters;
    server: ApiServer;
    disk: Disk;
    keyring: Keyring;
    storageLimits: StorageLimits;
    pki: Pki;
    pkiOf: (authority: Authority) => Promise<Pki>;
  }) {
    this.home = parts.home;
    this.url = parts.url;
    this.clusters = parts.clusters;
    this.#server = parts.server;
    this.#disk = parts.disk;
    this.keyring = parts.keyring;
    this.storageLimits = parts.storageLimits;
    this.#pki = parts.pki;
    this.#pkiOf = parts.pkiOf;
    this.#isAdvertised = parts.isAdvertised;
    this.clusters.onGone((name) => this.#tokens.delete(name));
  }

  static async start(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
    const { config, clock = systemClock, random = systemRandom, log = silentLogger, metrics = noMetrics } = options;
    const home = new Home(config.home);
    makeHome(home.path);
    await finishRestore(home);
    refuseLostKeys(home);
    const advertised = options.advertise ? new URL(options.advertise) : undefined;
    const names = [config.host, ...(advertised ? [bare(advertised.hostname)] : [])];
    const pkiOf = (authority: Authority) => servingPki(home, authority, names, clock);
    const [keyring, pki] = await Promise.all([
      Keyring.open(home.keyring, random, clock),
      ensurePki(home, names, clock),
    ]);
    let port = config.port;
    const address = reachableAddress(config.host);
    const records = new TenantRecords(home.provisioner('virtual'));
    const storageLimits = new StorageLimits(records, config.storage ?? DEFAULT_STORAGE);
    const disk: Disk = diskOf(home, { clock, log, metrics, onFull: () => void clusters.reclaim() });
    const clusters: Clusters = new Clusters({
      folder: home.data,
      room: (name) => (name === ROOT ? disk : new ClusterRoom(disk, () => storageLimits.of(name))),
      clock,
      random,
      serverCa: pki.bundle,
      certificates: clientCertificates(clock),
      synchronous: config.durability,
      sealer: (meta, owner) => storeSealer(keyring, meta, owner, random),
      endpoint: () => ({ address, port }),
      cloneFile: options.cloneFile,
      loops: [simulation],
      guardsHost: isReachedFromElsewhere(options),
      admission: [
        clusterApiAdmission,
        workspaceAdmission,
        guardedFields,
        (authorizer) => hostAdmission({ authorizer, folders: options.folders ?? new HostFolders([]) }),
      ],
      gate: (name) => {
        if (records.get(name)?.isSuspended) throw suspended(name);
      },
      made: {
        // The kubeconfig of the control plane is written once its store is there.
        has: (name) =>
          name === ROOT ? existsSync(home.kubeconfig) || clusters.list().length > 0 : records.wasMade(name),
        names: () => records.names(),
      },
      help: storeHelp,
    });
    clusters.onTrouble((name, trouble) =>
      log.error('a store cannot be used', {
        cluster: name || 'the control plane',
        error: trouble.message,
        help: trouble.hint,
      }),
    );
    const server = new ApiServer({
      clusters,
      tls: pki.server,
      host: config.host,
      port: config.port,
      hasRoot: options.hasRoot,
      metrics: () => {
        noteFreeBytes(home, metrics);
        return metrics.render().body;
      },
      ownPaths: options.ownPaths,
      onError: (error, request) => log.error('request failed', { ...request, error: describe(error) }),
    });
    try {
      ({ port } = await listen(server, config, options.flags));
      const url = advertised ? advertised.origin : `https://${urlHost(config.host)}:${port}`;
      const isAdvertised = advertised !== undefined;
      const parts = { home, url, isAdvertised, clusters, server, disk, storageLimits, keyring, pki, pkiOf };
      return new EmbeddedServer(parts);
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
    const token =
      this.#tokens.get(name) ?? (await this.clusters.peek(name, ({ credentials }) => credentials.adminToken));
    if (token === undefined) throw missing(name);
    this.#tokens.set(name, token);
    return kubeconfigText({
      name: name === ROOT ? 'rookery' : name,
      server: this.urlOf(name),
      // Whoever stands between us and the clients may find us by the name of the address.
      ...(name === ROOT || this.#isAdvertised ? {} : { serverName: serverNameOf(name) }),
      caPem: this.#pki.bundle,
      token,
    });
  }

  /** Throws when there is no such cluster. */
  async cluster(name: string): Promise<Cluster> {
    const cluster = await this.clusters.get(name);
    if (!cluster) throw missing(name);
    return cluster;
  }

  get pki(): Pki {
    return this.#pki;
  }

  /** Another CA from now on: in kubeconfigs, in clusters that wake up, and behind new connections. */
  async serveWith(authority: Authority): Promise<void> {
    this.#pki = await this.#pkiOf(authority);
    this.clusters.serverCa = this.#pki.bundle;
    this.#server.useTls(this.#pki.server);
  }

  /** Ends connections that show this client certificate. Says how many there were. */
  endConnectionsOf(serial: string): number {
    return this.#server.endConnectionsOf(serial);
  }

  async close(): Promise<void> {
    this.#disk.close();
    await this.#server.close();
    await this.clusters.close();
  }
}

interface DiskParts {
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  onFull(): void;
}

function diskOf(home: Home, { clock, log, metrics, onFull }: DiskParts): Disk {
  const full = metrics.gauge('rookery_disk_full', '1 while the disk of the home cannot be written.');
  const disk = new Disk({
    reserve: new Reserve(home.reserve),
    clock,
    onChange: (state) => {
      full.set(state === 'ok' ? 0 : 1);
      if (state === 'ok') log.warn('the disk can be written again');
      else log.error(`the disk is ${state}: objects can be read and deleted, not created or changed`);
      if (state === 'full') onFull();
    },
  });
  disk.start();
  return disk;
}

/** Counted when it is asked for: nothing else needs it. */
function noteFreeBytes(home: Home, metrics: Metrics): void {
  const { bavail, bsize } = statfsSync(home.path);
  metrics.gauge('rookery_disk_free_bytes', 'What is free on the disk of the home.').set(bavail * bsize);
}

function missing(name: string): RookeryError {
  return new RookeryError('cluster.missing', `there is no cluster ${JSON.stringify(name)}`, { class: 'user' });
}

type ReachConfig = Pick<Config, 'host'> & Partial<Pick<Config, 'publicUrl' | 'trustedProxies'>>;

/** Users who come from another machine, also through a proxy on this one, may have a tenant here without being trusted with this machine. */
export function isReachedFromElsewhere({
  config,
  advertise,
}: Pick<EmbeddedServerOptions, 'advertise'> & { config: ReachConfig }): boolean {
  const isBehindProxy = Boolean(advertise || config.publicUrl || config.trustedProxies?.length);
  return isBehindProxy || !/^(127\.|::1$|localhost$)/.test(config.host);
}

/** Both ways out of a lost or damaged store. */
function storeHelp(tenant: string): string {
  if (tenant === ROOT) return 'Restore it from a backup: rookery backup restore <file> --replace';
  const { namespace, name } = tenantKey(tenant);
  const where = namespace === 'default' ? '' : ` --namespace ${namespace}`;
  return `restore it: rookery backup restore <file> --cluster ${name}${where}; or give up what it stored: rookery cluster start-empty ${name}${where} --yes`;
}

/** Without a time to come back at: clients would wait for it, and it is a person who has to act. */
function suspended(tenant: string): ApiError {
  const { namespace, name } = tenantKey(tenant);
  const resume = `rookery cluster resume ${name}${namespace === 'default' ? '' : ` --namespace ${namespace}`}`;
  return new ApiError(503, 'ServiceUnavailable', `the cluster ${name} is suspended; wake it with: ${resume}`);
}

type Address = Pick<Config, 'host' | 'port'>;

const FLAGS = { host: '--host', port: '--port' };

async function listen(server: ApiServer, address: Address, flags = FLAGS): Promise<{ port: number }> {
  try {
    return await server.listen();
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, address, flags);
  }
}

function cannotListen(error: NodeJS.ErrnoException, { host, port }: Address, flags: typeof FLAGS): unknown {
  const user = (message: string, hint: string) =>
    new RookeryError('up.port', message, { class: 'user', hint, cause: error });
  switch (error.code) {
    case 'EADDRINUSE':
      return user(`port ${port} on ${host} is taken`, `choose another with ${flags.port} (0 means any free one)`);
    case 'EACCES':
      return user(`port ${port} on ${host} is not for everyone`, `choose one above 1023 with ${flags.port}`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return user(
        `${host} is no address of this machine`,
        `choose another with ${flags.host}, e.g. 127.0.0.1 or 0.0.0.0`,
      );
    default:
      return error;
  }
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** As certificates name it: IPv6 addresses without the brackets of a URL. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
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

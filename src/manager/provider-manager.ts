/**
 * The second home of Rookery: the same controllers against any Kubernetes API server. Where Cluster API's own core is installed they serve
 * it as providers, else our core drives them. Nothing is installed unless asked for; one replica works at a time, the others wait.
 */
import { type Clock, every, type Random, systemClock, systemRandom } from '../clock.ts';
import type { CoreMode } from '../controllers/core/index.ts';
import { addControllers } from '../controllers/index.ts';
import type { EmbeddedServerOptions } from '../embedded/embedded-server.ts';
import { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import { type LeaderElectionOptions, Manager, type ObjectStore } from '../kube/index.ts';
import type { HostPolicy } from '../provisioners/host-policy.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { type Logger, silentLogger } from '../telemetry/log.ts';
import { type Metrics, noMetrics } from '../telemetry/metrics.ts';
import { type Processes, systemProcesses } from '../tools/processes.ts';
import { checkCrds, installCrds } from './crds.ts';
import { claimHome } from './home-claim.ts';
import { probeServer } from './probe-server.ts';
import { coreKinds, hasUpstreamCore, providerKinds } from './served-kinds.ts';
import { VirtualHome } from './virtual-home.ts';

export interface ProviderManagerOptions {
  store: ObjectStore;
  /** Folder for what provisioners and virtual clusters keep. Replicas share it. */
  home: string;
  core: CoreMode;
  /** What clusters may do with this machine. */
  host: HostPolicy;
  /** Where virtual clusters are served, and how that is reached by others. */
  virtual: Pick<EmbeddedServerOptions['config'], 'host' | 'port' | 'durability' | 'storage'> & { advertise?: string };
  namespace?: string;
  /** Value of the label `cluster.x-k8s.io/watch-filter`. */
  watchFilter?: string;
  leaderElection?: Pick<LeaderElectionOptions, 'lease' | 'identity'>;
  installCrds?: boolean;
  probes?: { host: string; healthPort?: number; metricsPort?: number };
  clock?: Clock;
  random?: Random;
  log?: Logger;
  metrics?: Metrics;
  processes?: Processes;
}

/** Rights that are missing are said again and again, until somebody gives them. */
const COMPLAIN_MS = 30_000;
const WATCH_FILTER_LABEL = 'cluster.x-k8s.io/watch-filter';

/** Runs until `signal` aborts and the reconciles under way have ended. */
export async function runProviderManager(options: ProviderManagerOptions, signal: AbortSignal): Promise<void> {
  const { clock = systemClock, random = systemRandom, log = silentLogger, metrics = noMetrics } = options;
  const { store, namespace, watchFilter, leaderElection, processes = systemProcesses() } = options;
  const core = await prepare(options, log, signal).catch((error) => {
    if (!signal.aborted) throw error;
  });
  // Stopped before it began.
  if (core === undefined) return;
  const home = new Home(options.home);
  const { advertise, ...address } = options.virtual;
  const config = { home: home.path, ...address };
  const virtual = new VirtualHome({ config, advertise, clock, random, log, metrics });
  const manager = new Manager({
    store,
    clock,
    random,
    log,
    metrics,
    leaderElection,
    namespace,
    labelSelector: watchFilter === undefined ? undefined : `${WATCH_FILTER_LABEL}=${watchFilter}`,
    foundation: async () => {
      if (leaderElection) await claimHome(store, leaderElection.lease, home.path, random);
      return await virtual.open();
    },
  });
  const { tenants } = virtual;
  const open = (way: ClusterWay) =>
    way.open({ processes, clock, folder: home.provisioner(way.name), tenants, folders: options.host.folders });
  addControllers(manager, { store, host: options.host, open, core });
  const missing = () => manager.informers.missing;
  const cancel = every(clock, COMPLAIN_MS, () => {
    if (missing().length > 0) log.warn('not all objects could be read yet', { missing: missing() });
  });
  for (const probe of probesOf(options.probes, missing, () => metrics.render())) manager.add(probe);
  try {
    await manager.run(signal);
  } finally {
    cancel();
  }
}

/** The CRDs are there, and it is decided who drives. Upstream's core is looked for once: our own needs more rights to follow that. */
async function prepare(options: ProviderManagerOptions, log: Logger, signal: AbortSignal): Promise<CoreMode> {
  const { store } = options;
  const isUpstream = await hasUpstreamCore(store, signal);
  if (isUpstream && options.core === 'on') {
    throw new RookeryError('manager.two-cores', "Cluster API's own core is installed: two cores would fight", {
      class: 'user',
      hint: 'leave out --core, or remove the other one (`clusterctl delete --core cluster-api`)',
    });
  }
  const kinds = [...(isUpstream ? [] : coreKinds), ...providerKinds];
  if (options.installCrds) await installCrds(store, kinds, signal);
  else await checkCrds(store, kinds, signal);
  const core = isUpstream ? 'off' : options.core;
  log.info('the kinds are there', { core: isUpstream ? 'upstream' : core, kinds: kinds.map(({ kind }) => kind) });
  return core;
}

function probesOf(
  probes: ProviderManagerOptions['probes'],
  missing: () => string[],
  metrics: () => { contentType: string; body: string },
) {
  const { host = '127.0.0.1', healthPort, metricsPort } = probes ?? {};
  const ports = new Set([healthPort, metricsPort].filter((port) => port !== undefined));
  return [...ports].map((port) => probeServer({ host, port, missing, ...(port === metricsPort ? { metrics } : {}) }));
}

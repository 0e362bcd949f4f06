/** `rookery manager`: our controllers against the Kubernetes API server that a kubeconfig, or the pod we run in, names. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '../clock.ts';
import { loadConfig } from '../config.ts';
import type { CoreMode } from '../controllers/core/index.ts';
import { RookeryError } from '../errors.ts';
import { type Connection, inClusterConnection, loadKubeconfig, RemoteStore } from '../kube/index.ts';
import { HostFolders } from '../machines/host-folders.ts';
import { runProviderManager } from '../manager/provider-manager.ts';
import { namespacesNamed } from '../provisioners/host-policy.ts';
import { jsonLogger, terminalLogger } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import type { GlobalOptions } from './connect.ts';

export interface ManagerOptions extends GlobalOptions {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  watchFilter?: string;
  leaderElect?: boolean;
  leaderElectNamespace?: string;
  installCrds?: boolean;
  core: CoreMode;
  hostNamespaces?: string[];
  virtualHost: string;
  virtualPort: number;
  virtualUrl?: string;
  probeHost: string;
  healthPort?: number;
  metricsPort?: number;
}

export async function manager(options: ManagerOptions): Promise<void> {
  // People watch a service by its log: more is said there than by a command.
  const config = loadConfig(
    { ROOKERY_LOG_LEVEL: 'info', ...process.env },
    { home: options.home, hostNamespaces: options.hostNamespaces },
  );
  const log = process.stderr.isTTY
    ? terminalLogger(config.logLevel, (line) => void process.stderr.write(line))
    : jsonLogger({ level: config.logLevel });
  const stop = stopSignal();
  const connection = await connectionOf(options);
  const store = new RemoteStore({
    connection,
    userAgent: 'rookery-manager',
    onWarning: once((text) => log.info('the API server warns', { text })),
  });
  const { namespace, watchFilter, installCrds, core } = options;
  try {
    await runProviderManager(
      {
        store,
        // Of its own: the control plane of `rookery up` may live in the same home.
        home: join(config.home, 'manager'),
        core,
        // That API server checks no permission for this machine, so only the named namespaces may use it.
        host: {
          hasAdmission: false,
          allows: namespacesNamed(config.hostNamespaces),
          folders: new HostFolders(config.hostFolders, config.home),
        },
        namespace,
        watchFilter,
        installCrds,
        virtual: {
          host: options.virtualHost,
          port: options.virtualPort,
          durability: config.durability,
          storage: config.storage,
          advertise: options.virtualUrl,
        },
        leaderElection: options.leaderElect ? election(options, connection) : undefined,
        probes: { host: options.probeHost, healthPort: options.healthPort, metricsPort: options.metricsPort },
        log,
        metrics: createMetrics(),
      },
      stop,
    );
    log.info('stopped');
  } finally {
    await store.close();
  }
}

/** Never the user's default kubeconfig: which cluster is worked on has to be said. */
async function connectionOf(options: ManagerOptions): Promise<Connection> {
  const { kubeconfig: file, context } = options;
  if (file) return await loadKubeconfig({ file, context });
  if (process.env.KUBERNETES_SERVICE_HOST) return await inClusterConnection();
  throw new RookeryError('manager.where', 'neither a kubeconfig was named nor is this a pod of a cluster', {
    class: 'user',
    hint: 'name the management cluster with --kubeconfig FILE',
  });
}

/** One lease for each set of objects that a manager looks after. */
function election(options: ManagerOptions, connection: Connection) {
  const namespace = options.leaderElectNamespace ?? options.namespace ?? connection.namespace ?? 'default';
  const name = ['rookery-manager', options.watchFilter].filter(Boolean).join('-');
  return { lease: { namespace, name }, identity: `${hostname()}_${systemRandom.uuid()}` };
}

/** Aborts at the first Ctrl-C or TERM; a second one ends the process at once. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(130);
    stop.abort(new Error('asked to stop'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stop.signal;
}

/** A server says the same with every request. */
function once(tell: (text: string) => void): (text: string) => void {
  const told = new Set<string>();
  return (text) => {
    if (told.size >= 1000 || told.has(text)) return;
    told.add(text);
    tell(text);
  };
}

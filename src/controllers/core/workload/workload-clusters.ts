/**
 * Connections to the clusters that Clusters stand for, by the Secret `<cluster>-kubeconfig`. A connection is made when
 * first asked for and kept; a probe finds out when it breaks. Nobody waits for it: who asks too early is told when it
 * stands. A Secret that changes is tried at once, everything else again after a growing pause.
 */
import type { KubeObject } from '../../../api/object.ts';
import { secrets } from '../../../api/resources.ts';
import type { Clock, Random } from '../../../clock.ts';
import {
  backoffDelay,
  Informer,
  isNotFound,
  keyText,
  type ObjectKey,
  type ObjectStore,
  parseKey,
} from '../../../kube/index.ts';
import type { Logger } from '../../../telemetry/log.ts';
import { LABEL } from '../names.ts';
import { isRefused, type OpenOptions, WorkloadConnection } from './workload-connection.ts';

export interface WorkloadClustersOptions {
  store: ObjectStore;
  clock: Clock;
  random: Random;
  log: Logger;
  placeOf: OpenOptions['placeOf'];
  probeEveryMs?: number;
}

/** What is known of the way to a cluster. */
export interface Health {
  /** When it last answered. */
  lastSuccess?: number;
  /** How often in a row it did not. */
  failures: number;
  /** Why not, the last time. */
  error?: string;
}

export interface Listener {
  /** The connection came, broke or was given up. */
  connection?(cluster: ObjectKey): void;
  node?(cluster: ObjectKey, node: KubeObject): void;
  /** A Secret that carries the cluster's label came or changed. */
  secret?(secret: ObjectKey): void;
}

/** So many failures in a row and a connection is given up; with the interval below that is after 50 s. */
export const FAILURES_ALLOWED = 5;
const PROBE_EVERY_MS = 10_000;
const RETRY = { baseMs: 500, maxMs: 30_000 };
const KUBECONFIG_SUFFIX = '-kubeconfig';

interface Entry {
  key: ObjectKey;
  health: Health;
  connection?: WorkloadConnection;
  cancel: () => void;
  busy?: Promise<void>;
  /** Asked for while busy: once more, at once. */
  again: boolean;
  gone: boolean;
}

export class WorkloadClusters {
  readonly name = 'workload-clusters';
  readonly #options: WorkloadClustersOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners: Listener[] = [];
  /** Names and versions only: a thousand kubeconfigs need not be kept here as well. */
  readonly #kubeconfigs: Informer;
  #stopped = false;

  constructor(options: WorkloadClustersOptions) {
    this.#options = options;
    const { store, clock, random, log } = options;
    this.#kubeconfigs = new Informer({
      ...{ store, clock, random, log },
      resource: secrets,
      selection: { labelSelector: LABEL.clusterName },
      transform: metadataOnly,
    });
    const changed = ({ metadata: { namespace, name = '' } }: KubeObject) => {
      for (const listener of this.#listeners) listener.secret?.({ namespace, name });
      if (!name.endsWith(KUBECONFIG_SUFFIX)) return;
      const entry = this.#entries.get(keyText({ namespace, name: name.slice(0, -KUBECONFIG_SUFFIX.length) }));
      if (entry) this.#reconnect(entry);
    };
    this.#kubeconfigs.addHandler({ added: changed, updated: changed });
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#kubeconfigs.run(signal);
    this.#stopped = true;
    await Promise.all([...this.#entries.values()].map((entry) => this.#drop(entry)));
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** From now on there is a connection, or somebody is trying. */
  want(key: ObjectKey): void {
    if (this.#stopped || this.#entries.has(keyText(key))) return;
    const entry: Entry = { key, health: { failures: 0 }, cancel: () => {}, again: false, gone: false };
    this.#entries.set(keyText(key), entry);
    this.#work(entry);
  }

  /** Nobody needs it any more. */
  forget(key: ObjectKey): void {
    const entry = this.#entries.get(keyText(key));
    if (!entry) return;
    this.#entries.delete(keyText(key));
    void this.#drop(entry);
  }

  /** Undefined while there is none. */
  connection(key: ObjectKey): WorkloadConnection | undefined {
    return this.#entries.get(keyText(key))?.connection;
  }

  health(key: ObjectKey): Health | undefined {
    return this.#entries.get(keyText(key))?.health;
  }

  forgetAll(): void {
    for (const text of [...this.#entries.keys()]) this.forget(parseKey(text));
  }

  #work(entry: Entry): void {
    if (entry.gone || this.#stopped) return;
    if (entry.busy !== undefined) {
      entry.again = true;
      return;
    }
    entry.cancel();
    entry.busy = this.#step(entry).finally(() => {
      entry.busy = undefined;
      if (!entry.again) return;
      entry.again = false;
      this.#work(entry);
    });
  }

  /** One attempt to connect, or one probe; plans the next. */
  async #step(entry: Entry): Promise<void> {
    const { clock, random, store, probeEveryMs = PROBE_EVERY_MS } = this.#options;
    const { health } = entry;
    const before = { connected: entry.connection !== undefined, failed: health.failures >= FAILURES_ALLOWED };
    let wait = probeEveryMs;
    try {
      if (entry.connection) await entry.connection.probe();
      else entry.connection = await this.#connect(entry, store);
      entry.health = { lastSuccess: clock.now(), failures: 0 };
    } catch (error) {
      const failures = health.failures + 1;
      entry.health = { ...health, failures, error: (error as Error).message };
      this.#options.log.debug('workload cluster not reached', { cluster: keyText(entry.key), error });
      // Credentials that are refused will not be accepted later.
      if (isRefused(error) || failures >= FAILURES_ALLOWED) await this.#disconnect(entry);
      if (!entry.connection) wait = backoffDelay(failures, RETRY, random);
      // A Secret that does not exist is waited for by watching.
      if (isNotFound(error)) wait = Number.POSITIVE_INFINITY;
    }
    if (entry.gone) return void (await this.#disconnect(entry));
    const after = { connected: entry.connection !== undefined, failed: entry.health.failures >= FAILURES_ALLOWED };
    if (Number.isFinite(wait)) entry.cancel = clock.after(wait, () => this.#work(entry));
    if (before.connected !== after.connected || before.failed !== after.failed) this.#tell(entry);
  }

  #connect(entry: Entry, store: ObjectStore): Promise<WorkloadConnection> {
    return WorkloadConnection.open({
      ...this.#options,
      store,
      cluster: entry.key,
      secret: { namespace: entry.key.namespace, name: `${entry.key.name}${KUBECONFIG_SUFFIX}` },
      onNode: (node) => {
        for (const listener of this.#listeners) listener.node?.(entry.key, node);
      },
    });
  }

  /** The kubeconfig changed: what it said before counts no more. */
  #reconnect(entry: Entry): void {
    const { connection } = entry;
    const version = this.#kubeconfigs.get({
      namespace: entry.key.namespace,
      name: `${entry.key.name}${KUBECONFIG_SUFFIX}`,
    })?.metadata.resourceVersion;
    if (connection && connection.version === version) return;
    if (connection) {
      entry.connection = undefined;
      void connection.close();
    }
    this.#work(entry);
  }

  async #disconnect(entry: Entry): Promise<void> {
    const { connection } = entry;
    entry.connection = undefined;
    await connection?.close();
  }

  async #drop(entry: Entry): Promise<void> {
    entry.gone = true;
    entry.cancel();
    await entry.busy;
    entry.cancel();
    await this.#disconnect(entry);
  }

  #tell(entry: Entry): void {
    for (const listener of this.#listeners) listener.connection?.(entry.key);
  }
}

function metadataOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
}

/** One connection to a workload cluster: its API, and a cache of its nodes once somebody needs them. */
import type { KubeObject } from '../../../api/object.ts';
import { namespaces, secrets } from '../../../api/resources.ts';
import type { Clock, Random } from '../../../clock.ts';
import { RookeryError } from '../../../errors.ts';
import {
  Informer,
  isUnauthorized,
  KubeError,
  kubeconfigConnection,
  type ObjectKey,
  type ObjectStore,
  type Place,
  RemoteStore,
  type ResourceRef,
} from '../../../kube/index.ts';
import type { Logger } from '../../../telemetry/log.ts';

const nodes: ResourceRef = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const PROBE_TIMEOUT_MS = 5_000;
const PROVIDER_ID = 'providerID';

export interface OpenOptions {
  store: ObjectStore;
  clock: Clock;
  random: Random;
  log: Logger;
  cluster: ObjectKey;
  secret: ObjectKey;
  /** Where its API server may be. */
  placeOf(cluster: ObjectKey): Promise<Place>;
  onNode: (node: KubeObject) => void;
}

export class WorkloadConnection {
  readonly api: RemoteStore;
  /** Of the kubeconfig Secret it was made from. */
  readonly version: string | undefined;
  readonly #options: OpenOptions;
  readonly #closed = new AbortController();
  #nodes: Informer | undefined;
  #running: Promise<void> | undefined;

  private constructor(api: RemoteStore, version: string | undefined, options: OpenOptions) {
    this.api = api;
    this.version = version;
    this.#options = options;
  }

  /** Ends with a connection that has answered once. */
  static async open(options: OpenOptions): Promise<WorkloadConnection> {
    const secret = await options.store.get(secrets, options.secret);
    const value = secret.data?.value;
    if (!value) throw new RookeryError('KUBECONFIG_INVALID', `the Secret ${options.secret.name} has no key "value"`);
    const data = Buffer.from(value, 'base64').toString();
    const api = new RemoteStore({
      connection: await kubeconfigConnection(data, await options.placeOf(options.cluster)),
      clock: options.clock,
      userAgent: 'rookery-core',
    });
    const connection = new WorkloadConnection(api, secret.metadata.resourceVersion, options);
    try {
      await connection.probe();
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Any answer will do but "who are you": a right that is missing is no broken connection. */
  async probe(): Promise<void> {
    const timeout = new AbortController();
    const cancel = this.#options.clock.after(PROBE_TIMEOUT_MS, () =>
      timeout.abort(new RookeryError('PROBE_TIMEOUT', 'no answer within 5 s', { class: 'retryable' })),
    );
    try {
      await this.api.get(namespaces, { name: 'kube-system' }, { signal: timeout.signal });
    } catch (error) {
      const answered = error instanceof KubeError && error.code < 500 && !isUnauthorized(error);
      if (!answered) throw error;
    } finally {
      cancel();
    }
  }

  /** Undefined until the first list of nodes is there; `onNode` is called with each of them. */
  get nodes(): Informer | undefined {
    if (!this.#nodes) {
      const { clock, random, log, onNode } = this.#options;
      this.#nodes = new Informer({ store: this.api, resource: nodes, clock, random, log, transform: withoutManagers });
      this.#nodes.addIndex(PROVIDER_ID, (node) => (node.spec?.providerID ? [node.spec.providerID] : []));
      this.#nodes.addHandler({ added: onNode, updated: onNode, deleted: onNode });
      this.#running = this.#nodes.run(this.#closed.signal);
    }
    return this.#nodes.hasSynced ? this.#nodes : undefined;
  }

  /** Waits for the first list of nodes. */
  async syncedNodes(signal?: AbortSignal): Promise<Informer> {
    const cache = this.nodes ?? (this.#nodes as Informer);
    await cache.whenSynced(signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal);
    return cache;
  }

  async close(): Promise<void> {
    this.#closed.abort(new RookeryError('CONNECTION_CLOSED', 'the connection was closed', { class: 'retryable' }));
    await this.#running?.catch(() => {});
    await this.api.close();
  }
}

export function nodesByProviderId(cache: Informer, providerId: string): KubeObject[] {
  return cache.byIndex(PROVIDER_ID, providerId);
}

export { nodes as nodeResource };

export function isRefused(error: unknown): boolean {
  return isUnauthorized(error);
}

function withoutManagers(node: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = node.metadata;
  return { ...node, metadata };
}

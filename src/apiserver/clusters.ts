/**
 * All clusters of one process, one file each in one folder. They are opened when first asked for and closed again
 * when nobody has used them for a while: a sleeping cluster costs a file and nothing else.
 */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Random } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { hashToken } from './auth/authenticator.ts';
import { bootstrap } from './bootstrap.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { ClusterFiles, isClusterName, ROOT } from './cluster-files.ts';
import { ClusterCredentials } from './credentials.ts';
import { LastCalls } from './last-calls.ts';
import type { Loop } from './loops/loop.ts';
import { provideThread } from './offload/offload.ts';
import { copyStore } from './store/copy-store.ts';
import { type CloneFile, restoreInto } from './store/snapshot.ts';
import { openStore } from './store/sqlite-store.ts';
import type { RenewableSealer, Room, Store } from './store/store.ts';
import type { Usage } from './store/usage.ts';
import { isStoreTrouble, StoreHealth } from './store-health.ts';
import { StorePatrol } from './store-patrol.ts';

provideThread();

const SWEEP_MS = 15_000;

export { ROOT } from './cluster-files.ts';

export interface ClustersOptions extends Pick<ClusterOptions, 'serverCa' | 'sealer' | 'synchronous' | 'certificates'> {
  folder: string;
  clock: Clock;
  random: Random;
  /** Where the server can be reached, as Service default/kubernetes says it; not a loopback address. */
  endpoint: () => { address: string; port: number };
  /** Says whether the store of a cluster may grow. */
  room?: (name: string) => Room;
  /** A cluster nobody used for this long goes to sleep. */
  sleepAfterMs?: number;
  /** What runs in every cluster but the root, besides the server's own loops. */
  loops?: readonly Loop[];
  /** Webhooks of all clusters but the root may not call the machine the server runs on. */
  guardsHost?: boolean;
  /** Admission of the root cluster besides the server's own. */
  admission?: ClusterOptions['admission'];
  /** Asked before a cluster is woken; throws when it shall stay asleep. */
  gate?: (name: string) => void;
  /** Copies a file without copying its blocks, where that can be done. */
  cloneFile?: CloneFile;
  /** The clusters that were made before: without their file they are lost, not new. */
  made?: { has(name: string): boolean; names(): string[] };
  /** What a person can do about a lost or damaged store, for hints. */
  help?: (name: string) => string;
}

/** The file of a cluster, or of one of its snapshots. */
export interface Visited extends Pick<Cluster, 'store' | 'credentials' | 'sealer'> {
  /** The cluster itself, if it is awake. */
  awake?: Cluster;
  /** The label of a snapshot. */
  snapshot?: string;
}

export class Clusters {
  /** Whoever serves requests writes down who asked. */
  readonly lastCalls = new LastCalls();
  readonly #options: ClustersOptions;
  readonly #awake = new Map<string, Cluster>();
  /** On their way out; whoever wants one of them waits. */
  readonly #closing = new Map<string, Promise<unknown>>();
  /** By the hash of the administrator's token, for all that were awake since the start. */
  readonly #byToken = new Map<string, string>();
  readonly #hashes = new Map<string, string>();
  readonly #listeners = new Set<(name: string) => void>();
  readonly #openListeners = new Set<(name: string) => void>();
  readonly #files: ClusterFiles;
  readonly #health: StoreHealth;
  readonly #patrol: StorePatrol;
  #cancelSweep = () => {};

  constructor(options: ClustersOptions) {
    this.#options = { ...options };
    this.#files = new ClusterFiles(options.folder);
    mkdirSync(join(options.folder, 'clusters'), { recursive: true, mode: 0o700 });
    const fileOf = (name: string) => this.#files.store(name);
    this.#health = new StoreHealth({
      folder: join(options.folder, 'damage'),
      fileOf,
      wasMade: (name) => options.made?.has(name) ?? false,
      rescueFile: (name) => this.#files.rescued(name),
      help: options.help,
    });
    this.#patrol = new StorePatrol({
      clock: options.clock,
      health: this.#health,
      fileOf,
      awake: () => this.#awake.keys(),
      names: () => [...new Set([...this.list(), ...(options.made?.names() ?? [])])],
      found: (name, trouble) => this.#found(name, trouble),
      verify: (name) => this.peek(name, () => undefined),
    });
    this.#sweepLater();
  }

  has(name: string): boolean {
    return this.#awake.has(name) || (isClusterName(name) && existsSync(this.#files.store(name)));
  }

  /** Names of all clusters but the root, sorted. */
  list(): string[] {
    return this.#files.list();
  }

  isAwake(name: string): boolean {
    return this.#awake.has(name);
  }

  /**
   * The cluster whose administrator shows this token. Clients that leave the path out of a kubeconfig's address
   * (`kubectl proxy` does) still show whom they speak to.
   */
  ofToken(token: string): string | undefined {
    return this.#byToken.get(hashToken(token));
  }

  get awake(): number {
    return this.#awake.size;
  }

  /** What a cluster stores now; undefined while it is asleep. */
  usage(name: string): Usage | undefined {
    return this.#awake.get(name)?.store.usage;
  }

  /** What those that are awake store now, but for the root. */
  usages(): [name: string, usage: Usage][] {
    return [...this.#awake].flatMap(([name, { store }]) => (name === ROOT ? [] : [[name, store.usage]]));
  }

  /** Forgets the history of those that are awake, to make room. One after the other. */
  async reclaim(): Promise<void> {
    for (const { store } of [...this.#awake.values()]) await store.compact(store.rv).catch(() => {});
  }

  /** Undefined when there is no such cluster. */
  async get(name: string): Promise<Cluster | undefined> {
    const awake = this.#awake.get(name);
    if (awake) return awake;
    while (this.#closing.has(name)) await this.#closing.get(name);
    if (this.#awake.has(name)) return this.#awake.get(name);
    if (!isClusterName(name)) return undefined;
    this.#health.mustBeWhole(name);
    if (!existsSync(this.#files.store(name))) return undefined;
    this.#options.gate?.(name);
    return this.#open(name);
  }

  /** Reads what a cluster stores without waking it. Undefined when there is nothing yet. */
  async peek<T>(name: string, read: (cluster: Pick<Cluster, 'store' | 'credentials'>) => T): Promise<T | undefined> {
    while (this.#closing.has(name)) await this.#closing.get(name);
    const awake = this.#awake.get(name);
    if (awake) return read(awake);
    const file = this.#files.store(name);
    if (!isClusterName(name)) return undefined;
    this.#health.mustBeWhole(name);
    if (!existsSync(file) || statSync(file).size === 0) return undefined;
    const { clock, random } = this.#options;
    const sealer = (meta: Cluster['store']['meta']) => this.#options.sealer?.(meta, `cluster ${name}`);
    const store = this.#judged(name, () => openStore(file, { clock, readonly: true }));
    try {
      return this.#judged(name, () =>
        read({ store, credentials: new ClusterCredentials(store.meta, sealer(store.meta), random, clock) }),
      );
    } finally {
      await this.#close(name, store.close());
    }
  }

  /**
   * Works on what a cluster and its snapshots store, one file after the other, without waking what sleeps. Who wants to
   * open a sleeping one waits until the work on it is done.
   */
  async visit(name: string, work: (visited: Visited) => Promise<void>): Promise<void> {
    while (this.#closing.has(name)) await this.#closing.get(name);
    const awake = this.#awake.get(name);
    if (awake) {
      awake.active++;
      const { store, credentials, sealer } = awake;
      await work({ store, credentials, sealer, awake }).finally(() => awake.active--);
    } else if (
      isClusterName(name) &&
      existsSync(this.#files.store(name)) &&
      statSync(this.#files.store(name)).size > 0
    ) {
      await this.#close(name, this.#visitFile(name, this.#files.store(name), work));
    }
    const folder = this.#files.snapshots(name);
    const labels =
      name !== ROOT && existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.db')) : [];
    for (const label of labels) {
      const snapshot = label.slice(0, -'.db'.length);
      await this.#visitFile(name, join(folder, label), (visited) => work({ ...visited, snapshot }));
    }
  }

  /** PEM that objects carry from now on (kube-root-ca.crt); clusters that are awake have to be told. */
  set serverCa(pem: string) {
    this.#options.serverCa = pem;
  }

  /** Why its store cannot be used: it is lost or damaged, and stays refused until a person decides. Undefined when nothing is known against it. */
  trouble(name: string): RookeryError | undefined {
    return this.#health.trouble(name);
  }

  /** Writes a copy of its store as of now to a new file, without waking it. False when there is none. */
  async copy(name: string, to: string): Promise<boolean> {
    while (this.#closing.has(name)) await this.#closing.get(name);
    const awake = this.#awake.get(name);
    if (!awake) this.#health.mustBeWhole(name);
    const file = this.#files.store(name);
    if (!isClusterName(name) || !existsSync(file)) return false;
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    if (awake) await awake.store.snapshot(to, this.#options.cloneFile);
    // No request may open it meanwhile.
    else await this.#close(name, copyStore(file, to, this.#options.clock));
    return true;
  }

  /** Called when a store turns out to be lost or damaged, once for each way it is. */
  onTrouble(listener: (name: string, trouble: RookeryError) => void): () => void {
    return this.#health.onTrouble(listener);
  }

  /** A store that is open turned out not to be whole: its cluster is closed, and refused from now on. */
  broke(name: string, error: unknown): void {
    const trouble = this.#health.judge(name, error);
    if (isStoreTrouble(trouble)) this.#found(name, trouble);
  }

  /**
   * Puts `from`, a closed store, in the place of the cluster's own, or nothing where it is left out. What was there is kept in the folder `replaced`.
   * Broken off anywhere, it is simply asked again: `from` is there until all is done.
   */
  async replace(name: string, from?: string): Promise<void> {
    while (this.#closing.has(name)) await this.#closing.get(name);
    await this.#close(name, this.#replace(name, from));
  }

  /** Makes a cluster, or opens the one there is. */
  async ensure(name: string): Promise<Cluster> {
    const known = await this.get(name);
    if (known) {
      await this.#bootstrap(known);
      return known;
    }
    if (!isClusterName(name)) {
      throw new RookeryError('cluster.name', `${JSON.stringify(name)} cannot be the name of a cluster`, {
        class: 'user',
        hint: "use lower case letters, digits, '-' and '.', starting and ending with a letter or digit",
      });
    }
    const cluster = this.#open(name);
    await this.#bootstrap(cluster);
    return cluster;
  }

  /** Puts it to sleep now, whoever uses it; the next one wakes it again, if the gate lets them. */
  async sleep(name: string): Promise<void> {
    if (this.#awake.has(name)) for (const listener of this.#listeners) listener(name);
    await this.#sleep(name);
  }

  /** Ends its watches and removes its file. Says whether there was one. */
  async drop(name: string): Promise<boolean> {
    while (this.#closing.has(name)) await this.#closing.get(name);
    return this.#close(name, this.#remove(name));
  }

  /**
   * Keeps the state of now under a label, beside the cluster and as long as it. One that is there already stays: whoever is not sure after a crash
   * asks again.
   */
  async snapshot(name: string, label: string): Promise<void> {
    if (this.hasSnapshot(name, label)) return;
    const file = this.#files.snapshot(name, label);
    const cluster = await this.get(name);
    if (!cluster) throw new RookeryError('cluster.missing', `there is no cluster ${JSON.stringify(name)}`);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await cluster.store.snapshot(file, this.#options.cloneFile);
  }

  hasSnapshot(name: string, label: string): boolean {
    return existsSync(this.#files.snapshot(name, label));
  }

  /**
   * Brings back the state that was kept under a label, with its users' credentials as they are now. Streams end, and everything that runs in the
   * cluster starts again from what is stored. False when nothing was kept.
   */
  async restore(name: string, label: string, settings: readonly string[] = []): Promise<boolean> {
    const snapshot = this.#files.snapshot(name, label);
    while (this.#closing.has(name)) await this.#closing.get(name);
    if (!this.has(name) || !this.hasSnapshot(name, label)) return false;
    for (const listener of this.#listeners) listener(name);
    const awake = this.#awake.get(name);
    this.#awake.delete(name);
    this.#health.closed(name);
    await this.#close(name, this.#restore(name, awake, snapshot, settings));
    return true;
  }

  /** Called with the name of a cluster that is being closed or dropped: its streams have to end. */
  onGone(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called when a cluster wakes up: what was read of it while it slept may change now. */
  onOpen(listener: (name: string) => void): () => void {
    this.#openListeners.add(listener);
    return () => this.#openListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#cancelSweep();
    this.#patrol.stop();
    // One that cannot be closed (its disk is full, say) keeps none of the others open.
    const closed = await Promise.allSettled([...this.#awake.keys()].map((name) => this.#sleep(name)));
    await Promise.allSettled(this.#closing.values());
    for (const result of closed) if (result.status === 'rejected') throw result.reason;
  }

  #open(name: string): Cluster {
    // Two may have waited for the same file.
    const awake = this.#awake.get(name);
    if (awake) return awake;
    const { clock, random, serverCa, sealer, synchronous, certificates } = this.#options;
    const room = this.#options.room?.(name);
    const file = this.#files.store(name);
    const own =
      name === ROOT
        ? { admission: this.#options.admission }
        : { loops: this.#options.loops, guardsHost: this.#options.guardsHost };
    const onBroken = (error: RookeryError) => setImmediate(() => this.broke(name, error));
    const common = { name, file, clock, random, serverCa, sealer, synchronous, certificates, room, onBroken };
    const cluster = this.#judged(name, () => new Cluster({ ...common, ...own }));
    this.#awake.set(name, cluster);
    this.#health.opened(name);
    const hash = hashToken(cluster.credentials.adminToken);
    this.#byToken.set(hash, name);
    this.#hashes.set(name, hash);
    for (const listener of this.#openListeners) listener(name);
    return cluster;
  }

  async #visitFile(name: string, file: string, work: (visited: Visited) => Promise<void>): Promise<void> {
    const { clock, random, synchronous, sealer: make } = this.#options;
    let sealer: RenewableSealer | undefined;
    const made = (meta: Store['meta']) => {
      sealer ??= make?.(meta, `cluster ${name}`);
      return sealer as RenewableSealer;
    };
    const store = openStore(file, { clock, synchronous, retention: false, ...(make ? { sealer: made } : {}) });
    try {
      const credentials = new ClusterCredentials(store.meta, make && made(store.meta), random, clock);
      await work({ store, credentials, sealer });
    } finally {
      await store.close();
    }
  }

  #judged<T>(name: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const judged = this.#health.judge(name, error);
      if (isStoreTrouble(judged)) this.#found(name, judged);
      throw judged;
    }
  }

  /** The root goes on as long as it can: without it nothing could be said. Everything else is closed before more is lost. */
  #found(name: string, trouble: RookeryError): void {
    const cluster = this.#awake.get(name);
    if (!cluster || name === ROOT) {
      if (cluster && !existsSync(this.#files.store(name)) && !this.#health.isTold(name))
        this.#rescue(name, cluster).catch(() => {});
      this.#health.condemn(name, trouble);
      return this.#health.tell(name, trouble);
    }
    this.#awake.delete(name);
    for (const listener of this.#listeners) listener(name);
    const closing = this.#rescue(name, cluster)
      .catch(() => {})
      .then(() => cluster.close())
      .catch(() => {})
      .then(() => {
        this.#health.closed(name);
        this.#health.condemn(name, trouble);
        this.#health.tell(name, trouble);
      });
    void this.#close(name, closing);
  }

  /** The open file still has all of it: what cannot be found by its name any more is written under another. */
  async #rescue(name: string, cluster: Cluster): Promise<void> {
    if (existsSync(this.#files.store(name))) return;
    const to = this.#files.rescued(name);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await cluster.store.snapshot(to);
    // Its log is in the copy, and must not be replayed into another file of this name.
    await this.#files.removeCompanions(name);
  }

  async #replace(name: string, from: string | undefined): Promise<void> {
    for (const listener of this.#listeners) listener(name);
    const awake = this.#awake.get(name);
    this.#awake.delete(name);
    await awake?.close().catch(() => {});
    this.#health.closed(name);
    await this.#files.setAside(name, this.#options.clock.now());
    if (from) await rename(from, this.#files.store(name));
    this.#health.forget(name);
  }

  #bootstrap(cluster: Cluster): Promise<void> {
    return bootstrap(cluster, { rootCa: this.#options.serverCa, ...this.#options.endpoint() });
  }

  #sleep(name: string): Promise<void> {
    const cluster = this.#awake.get(name);
    if (!cluster) return Promise.resolve();
    this.#awake.delete(name);
    this.#health.closed(name);
    return this.#close(name, cluster.close());
  }

  async #restore(name: string, awake: Cluster | undefined, snapshot: string, settings: readonly string[]) {
    await awake?.close();
    const { clock, synchronous, sealer: make } = this.#options;
    const sealer = make && ((meta: Cluster['store']['meta']) => make(meta, `cluster ${name}`));
    const then = openStore(snapshot, { clock, sealer, readonly: true });
    try {
      const live = openStore(this.#files.store(name), { clock, sealer, synchronous });
      await restoreInto(live, then, settings).finally(() => live.close());
    } finally {
      await then.close();
    }
  }

  async #remove(name: string): Promise<boolean> {
    const awake = this.#awake.get(name);
    for (const listener of this.#listeners) listener(name);
    this.lastCalls.forget(name);
    this.#byToken.delete(this.#hashes.get(name) ?? '');
    this.#hashes.delete(name);
    if (awake) {
      this.#awake.delete(name);
      this.#health.closed(name);
      await awake.close({ discard: true });
    }
    const existed = isClusterName(name) && existsSync(this.#files.store(name));
    if (isClusterName(name)) {
      await this.#files.remove(name);
      this.#health.forget(name);
    }
    return existed || awake !== undefined;
  }

  #close<T>(name: string, work: Promise<T>): Promise<T> {
    const closing = work.finally(() => this.#closing.delete(name));
    this.#closing.set(name, closing);
    return closing;
  }

  #sweepLater(): void {
    this.#cancelSweep = this.#options.clock.after(SWEEP_MS, () => {
      this.#sweepLater();
      this.#sweep().catch((error) => process.emitWarning(String(error), 'ClusterSleepWarning'));
    });
  }

  /** One at a time, with everyone else's turn between: closing a file takes milliseconds, and there may be thousands. */
  async #sweep(): Promise<void> {
    const idleSince = this.#options.clock.now() - (this.#options.sleepAfterMs ?? 60_000);
    for (const [name, cluster] of [...this.#awake]) {
      if (name === ROOT || cluster.active > 0 || cluster.lastUsed >= idleSince) continue;
      if (this.#awake.get(name) !== cluster) continue;
      await this.#sleep(name);
      await turn();
    }
  }
}

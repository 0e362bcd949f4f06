/**
 * All clusters of one process, one file each in one folder. They are opened when first asked for and closed again
 * when nobody has used them for a while: a sleeping cluster costs a file and nothing else.
 */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Random } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { hashToken } from './auth/authenticator.ts';
import { bootstrap } from './bootstrap.ts';
import { Cluster, type ClusterOptions } from './cluster.ts';
import { ClusterCredentials } from './credentials.ts';
import { LastCalls } from './last-calls.ts';
import type { Loop } from './loops/loop.ts';
import { provideThread } from './offload/offload.ts';
import { type CloneFile, restoreInto } from './store/snapshot.ts';
import { openStore } from './store/sqlite-store.ts';
import type { RenewableSealer, Room, Store } from './store/store.ts';
import type { Usage } from './store/usage.ts';

/** The cluster at `/`; all others live below `/clusters/<name>`. */
export const ROOT = '';
provideThread();

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const SWEEP_MS = 15_000;

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
  #cancelSweep = () => {};

  constructor(options: ClustersOptions) {
    this.#options = { ...options };
    mkdirSync(join(options.folder, 'clusters'), { recursive: true, mode: 0o700 });
    this.#sweepLater();
  }

  has(name: string): boolean {
    return this.#awake.has(name) || (isValid(name) && existsSync(this.#file(name)));
  }

  /** Names of all clusters but the root, sorted. */
  list(): string[] {
    return readdirSync(join(this.#options.folder, 'clusters'))
      .filter((file) => file.endsWith('.db'))
      .map((file) => file.slice(0, -3))
      .sort();
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
    if (!isValid(name) || !existsSync(this.#file(name))) return undefined;
    this.#options.gate?.(name);
    return this.#open(name);
  }

  /** Reads what a cluster stores without waking it. Undefined when there is nothing yet. */
  async peek<T>(name: string, read: (cluster: Pick<Cluster, 'store' | 'credentials'>) => T): Promise<T | undefined> {
    while (this.#closing.has(name)) await this.#closing.get(name);
    const awake = this.#awake.get(name);
    if (awake) return read(awake);
    const file = this.#file(name);
    if (!isValid(name) || !existsSync(file) || statSync(file).size === 0) return undefined;
    const { clock, random } = this.#options;
    const sealer = (meta: Cluster['store']['meta']) => this.#options.sealer?.(meta, `cluster ${name}`);
    const store = openStore(file, { clock, readonly: true });
    try {
      return read({ store, credentials: new ClusterCredentials(store.meta, sealer(store.meta), random, clock) });
    } finally {
      await store.close();
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
    } else if (isValid(name) && existsSync(this.#file(name)) && statSync(this.#file(name)).size > 0) {
      await this.#close(name, this.#visitFile(name, this.#file(name), work));
    }
    const folder = this.#snapshots(name);
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

  /** Makes a cluster, or opens the one there is. */
  async ensure(name: string): Promise<Cluster> {
    const known = await this.get(name);
    if (known) {
      await this.#bootstrap(known);
      return known;
    }
    if (!isValid(name)) {
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
    const file = this.#snapshotFile(name, label);
    const cluster = await this.get(name);
    if (!cluster) throw new RookeryError('cluster.missing', `there is no cluster ${JSON.stringify(name)}`);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await cluster.store.snapshot(file, this.#options.cloneFile);
  }

  hasSnapshot(name: string, label: string): boolean {
    return existsSync(this.#snapshotFile(name, label));
  }

  /**
   * Brings back the state that was kept under a label, with its users' credentials as they are now. Streams end, and everything that runs in the
   * cluster starts again from what is stored. False when nothing was kept.
   */
  async restore(name: string, label: string, settings: readonly string[] = []): Promise<boolean> {
    const snapshot = this.#snapshotFile(name, label);
    while (this.#closing.has(name)) await this.#closing.get(name);
    if (!this.has(name) || !this.hasSnapshot(name, label)) return false;
    for (const listener of this.#listeners) listener(name);
    const awake = this.#awake.get(name);
    this.#awake.delete(name);
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
    const file = this.#file(name);
    const own =
      name === ROOT
        ? { admission: this.#options.admission }
        : { loops: this.#options.loops, guardsHost: this.#options.guardsHost };
    const cluster = new Cluster({
      name,
      file,
      clock,
      random,
      serverCa,
      sealer,
      synchronous,
      certificates,
      room,
      ...own,
    });
    this.#awake.set(name, cluster);
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

  #bootstrap(cluster: Cluster): Promise<void> {
    return bootstrap(cluster, { rootCa: this.#options.serverCa, ...this.#options.endpoint() });
  }

  #sleep(name: string): Promise<void> {
    const cluster = this.#awake.get(name);
    if (!cluster) return Promise.resolve();
    this.#awake.delete(name);
    return this.#close(name, cluster.close());
  }

  async #restore(name: string, awake: Cluster | undefined, snapshot: string, settings: readonly string[]) {
    await awake?.close();
    const { clock, synchronous, sealer: make } = this.#options;
    const sealer = make && ((meta: Cluster['store']['meta']) => make(meta, `cluster ${name}`));
    const then = openStore(snapshot, { clock, sealer, readonly: true });
    try {
      const live = openStore(this.#file(name), { clock, sealer, synchronous });
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
      await awake.close({ discard: true });
    }
    const file = this.#file(name);
    const existed = isValid(name) && existsSync(file);
    // The file itself goes last: it is what says that there is something to remove.
    if (existed) {
      await rm(this.#snapshots(name), { recursive: true, force: true });
      await Promise.all(['-wal', '-shm', '-journal'].map((suffix) => rm(file + suffix, { force: true })));
      await rm(file, { force: true });
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

  #snapshots(name: string): string {
    return join(this.#options.folder, 'snapshots', name);
  }

  #snapshotFile(name: string, label: string): string {
    if (name === ROOT || !isValid(name) || !NAME.test(label)) throw new Error(`${label} of ${name} names no snapshot`);
    return join(this.#snapshots(name), `${label}.db`);
  }

  #file(name: string): string {
    return name === ROOT ? join(this.#options.folder, 'root.db') : join(this.#options.folder, 'clusters', `${name}.db`);
  }
}

function isValid(name: string): boolean {
  return name === ROOT || (NAME.test(name) && !name.includes('..'));
}

/** Tenants of the embedded server, as the virtual provisioner asks for them. What is asleep is asked without being woken. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { KubeObject } from '../api/object.ts';
import { type Cluster, VERSION } from '../apiserver/index.ts';
import type { RookeryError } from '../errors.ts';
import type { ObservedNode, ObservedStorage } from '../provisioners/provisioner.ts';
import { FURNISHED, furnish } from '../provisioners/virtual/simulation/furnish.ts';
import { isNodeReady } from '../provisioners/virtual/simulation/nodes/simulated-node.ts';
import { NODES } from '../provisioners/virtual/simulation/pod.ts';
import type { StorageAmounts, StoreDecision, TenantShape, Tenants } from '../provisioners/virtual/tenants.ts';
import type { EmbeddedServer } from './embedded-server.ts';
import { storageStatus } from './storage-reports.ts';
import { type TenantRecord, TenantRecords } from './tenant-records.ts';

/** Of the tenant itself, should its record be lost. */
const OWNER = 'owner';
const ROLE = 'node-role.kubernetes.io/';
/** Nothing was written for so long: what was written last has had its consequences. */
const QUIET_MS = 300;
/** Some states never come to rest (a container that crashes again and again): then as it is. */
const SETTLE_MAX_MS = 3000;

type Server = Pick<EmbeddedServer, 'clusters' | 'home' | 'kubeconfig' | 'urlOf' | 'storageLimits'>;

export class TenantHost implements Tenants {
  readonly #server: Server;
  readonly #records: TenantRecords;
  /** By snapshot that is wanted: when it was first asked for, and which version was last seen when. */
  readonly #settling = new Map<string, { since: number; rv: number; at: number }>();
  /** Nodes of tenants that are asleep: they stay as they are. */
  readonly #sleepers = new Map<string, ObservedNode[]>();

  constructor(server: Server) {
    this.#server = server;
    this.#records = new TenantRecords(server.home.provisioner('virtual'));
    server.clusters.onOpen((name) => this.#sleepers.delete(name));
  }

  async ensure(
    name: string,
    owner: string,
    { controlPlanes, nodes, storage }: TenantShape,
    { wasReady = false, decision }: { wasReady?: boolean; decision?: StoreDecision } = {},
  ): Promise<void> {
    const { clusters } = this.#server;
    const wanted = { owner, controlPlanes, nodes, madeBy: VERSION.gitVersion, ...(storage ? { storage } : {}) };
    const begun = { ...wanted, madeBy: undefined };
    const isStartedEmpty = await this.#decided(name, decision, begun);
    const known = this.#records.get(name);
    const isSame = JSON.stringify(known) === JSON.stringify(wanted);
    const trouble = clusters.trouble(name);
    if (trouble) throw trouble;
    if (isSame && clusters.has(name)) return;
    // Intent before effect. An owner that is known only to the tenant itself is not written over: the caller has asked.
    const wasMade = (!isStartedEmpty && wasReady) || this.#records.wasMade(name);
    await this.#records.put(name, { ...begun, ...(wasMade ? { wasMade } : {}) });
    this.#server.storageLimits.forget(name);
    const cluster = await clusters.ensure(name);
    if (cluster.store.meta.get(OWNER) !== owner) cluster.store.meta.set(OWNER, owner);
    await furnish(cluster, { controlPlanes, nodes });
    await this.#records.put(name, wanted);
  }

  damage(name: string): RookeryError | undefined {
    return this.#server.clusters.trouble(name);
  }

  /** Decisions hold for a store that is in trouble, or that has a replacement ready; asked again after a crash they change nothing. */
  async #decided(name: string, decision: StoreDecision | undefined, begun: TenantRecord): Promise<boolean> {
    const { clusters, home } = this.#server;
    const staged = home.restoredStore(name);
    if (decision === 'restore' && existsSync(staged)) {
      await clusters.replace(name, staged);
      await this.#records.put(name, { ...begun, wasMade: true });
    }
    if (decision !== 'start-empty' || !(clusters.trouble(name) || !clusters.has(name))) return false;
    await clusters.replace(name);
    await this.#records.put(name, begun);
    return true;
  }

  async owner(name: string): Promise<string | undefined> {
    return this.#records.get(name)?.owner ?? (await this.#peek(name, ({ store }) => store.meta.get(OWNER)));
  }

  has(name: string): boolean {
    return this.#server.clusters.has(name) || this.#records.get(name) !== undefined;
  }

  isWhole(name: string): boolean {
    return this.#server.clusters.has(name) && this.#records.get(name)?.madeBy !== undefined;
  }

  async suspend(name: string): Promise<void> {
    const trouble = this.#server.clusters.trouble(name);
    if (trouble) throw trouble;
    const record = this.#records.get(name);
    if (!record || !this.isWhole(name)) return;
    if (!record.isSuspended) await this.#records.put(name, { ...record, isSuspended: true });
    await this.#server.clusters.sleep(name);
  }

  isSuspended(name: string): boolean {
    return this.#records.get(name)?.isSuspended === true;
  }

  async snapshot(name: string, label: string): Promise<boolean> {
    const { clusters } = this.#server;
    if (clusters.hasSnapshot(name, label)) return true;
    const cluster = await clusters.get(name);
    if (cluster && !this.#isSettled(`${name} ${label}`, cluster)) return false;
    await clusters.snapshot(name, label);
    this.#settling.delete(`${name} ${label}`);
    return true;
  }

  async restore(name: string, label: string): Promise<boolean> {
    const { clusters } = this.#server;
    if (!(await clusters.restore(name, label, FURNISHED))) return false;
    // It may have been given more nodes since.
    const record = this.#records.get(name);
    if (record) await furnish(await clusters.ensure(name), record);
    return true;
  }

  async nodes(name: string): Promise<ObservedNode[]> {
    const known = this.#sleepers.get(name);
    if (known) return known;
    const found = await this.#peek(name, ({ store }) => store.list({ resource: NODES }).items.map(observed));
    if (found && !this.#server.clusters.isAwake(name)) this.#sleepers.set(name, found);
    return found ?? [];
  }

  storage(name: string): ObservedStorage | undefined {
    const used = this.#server.clusters.usage(name);
    return used && storageStatus(used, this.#server.storageLimits.of(name));
  }

  get storageMax(): StorageAmounts {
    return this.#server.storageLimits.max;
  }

  /** The record goes last: until then everybody can see whose leftovers they are. */
  async remove(name: string): Promise<void> {
    const record = this.#records.get(name);
    // From here on a store that is not there is no lost one.
    if (record) await this.#records.put(name, { ...record, madeBy: undefined, wasMade: undefined });
    await this.#server.clusters.drop(name);
    await rm(this.#server.home.restoredStore(name), { force: true });
    this.#sleepers.delete(name);
    for (const id of this.#settling.keys()) if (id.startsWith(`${name} `)) this.#settling.delete(id);
    await this.#records.delete(name);
    this.#server.storageLimits.forget(name);
  }

  names(): string[] {
    return [...new Set([...this.#server.clusters.list(), ...this.#records.names()])].sort();
  }

  kubeconfig(name: string): Promise<string> {
    return this.#server.kubeconfig(name);
  }

  url(name: string): string {
    return this.#server.urlOf(name);
  }

  #isSettled(id: string, { store, clock }: Cluster): boolean {
    const now = clock.now();
    const known = this.#settling.get(id) ?? { since: now, rv: -1, at: now };
    if (known.rv !== store.rv) this.#settling.set(id, { ...known, rv: store.rv, at: now });
    return now - known.since >= SETTLE_MAX_MS || (known.rv === store.rv && now - known.at >= QUIET_MS);
  }

  #peek<T>(name: string, read: (cluster: Pick<Cluster, 'store'>) => T): Promise<T | undefined> {
    return this.#server.clusters.peek(name, read);
  }
}

function observed(stored: { object(): KubeObject }): ObservedNode {
  const node = stored.object();
  const role = Object.keys(node.metadata.labels ?? {}).find((label) => label.startsWith(ROLE));
  return {
    name: node.metadata.name as string,
    role: role?.slice(ROLE.length) ?? 'worker',
    ready: isNodeReady(node),
  };
}

/**
 * Whether this core works. Where upstream's Cluster API core is installed it must not: two cores on the same objects
 * undo each other. It is recognised by what it brings, never by the kinds themselves, since those come with us as well:
 *  - the CRD of Cluster belongs to the provider `cluster-api` (clusterctl and the operator label it so), or is not ours;
 *  - upstream's manager holds its lease.
 * Followed all the time: it may be installed later, and removed.
 */
import type { KubeObject } from '../../api/object.ts';
import { clusters } from '../../api/resources.ts';
import type { Clock } from '../../clock.ts';
import { Informer, type InformerOptions, leases } from '../../kube/index.ts';
import { LABEL, OUR_CORE_LABEL } from './names.ts';
import type { ProviderKinds } from './provider-kinds.ts';

export type CoreMode = 'auto' | 'on' | 'off';

const CLUSTER_CRD = `${clusters.plural}.${clusters.group}`;
const UPSTREAM_LEASE = 'controller-leader-election-capi';
/** A lease that runs out may be renewed late. */
const LEASE_SLACK = 2;

export interface CoreSwitchOptions extends Pick<InformerOptions, 'store' | 'random' | 'log'> {
  mode: CoreMode;
  clock: Clock;
  kinds: ProviderKinds;
}

export class CoreSwitch {
  readonly name = 'core-switch';
  readonly #options: CoreSwitchOptions;
  readonly #leases: Informer;
  readonly #listeners: (() => void)[] = [];
  #cancel = () => {};
  #last: boolean | undefined;

  constructor(options: CoreSwitchOptions) {
    this.#options = options;
    const { store, clock, random, log, kinds } = options;
    const selection = { fieldSelector: `metadata.name=${UPSTREAM_LEASE}` };
    this.#leases = new Informer({ store, clock, random, log, resource: leases, selection });
    const look = () => this.#look();
    this.#leases.addHandler({ added: look, updated: look, deleted: look });
    kinds.onChange((_, crd) => {
      if (crd.metadata.name === CLUSTER_CRD) look();
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#leases.run(signal);
    this.#cancel();
  }

  async whenKnown(signal?: AbortSignal): Promise<void> {
    if (this.#options.mode !== 'auto') return;
    await Promise.all([this.#leases.whenSynced(signal), this.#options.kinds.whenSynced(signal)]);
  }

  get isOn(): boolean {
    const { mode } = this.#options;
    return mode === 'auto' ? this.reason === undefined : mode === 'on';
  }

  /** Why this core leaves the objects alone; undefined when it does not. */
  get reason(): string | undefined {
    const crd = this.#options.kinds.crd(CLUSTER_CRD);
    const labels = crd?.metadata.labels ?? {};
    if (labels[LABEL.provider] === 'cluster-api') return `${CLUSTER_CRD} belongs to the provider cluster-api`;
    if (crd && labels[OUR_CORE_LABEL] === undefined) return `${CLUSTER_CRD} was not installed by Rookery`;
    const lease = this.#leases.list().find((candidate) => this.#isHeld(candidate));
    if (lease) return `upstream's manager ${lease.spec?.holderIdentity} holds the lease ${UPSTREAM_LEASE}`;
    return undefined;
  }

  /** Called when it turned on or off. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #look(): void {
    this.#cancel();
    const held = this.#leases.list().filter((lease) => this.#isHeld(lease));
    // A lease that is no longer renewed says nothing when it runs out.
    if (held.length > 0) {
      const ends = Math.max(...held.map(endOf)) - this.#options.clock.now();
      this.#cancel = this.#options.clock.after(ends + 1, () => this.#look());
    }
    if (this.#last === this.isOn) return;
    this.#last = this.isOn;
    this.#options.log?.info('Cluster API core', { on: this.isOn, reason: this.reason });
    for (const listener of this.#listeners) listener();
  }

  #isHeld(lease: KubeObject): boolean {
    return Boolean(lease.spec?.holderIdentity) && endOf(lease) > this.#options.clock.now();
  }
}

function endOf({ spec }: KubeObject): number {
  return Date.parse(spec?.renewTime ?? '') + (spec?.leaseDurationSeconds ?? 15) * 1000 * LEASE_SLACK;
}

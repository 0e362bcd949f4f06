/**
 * Snapshots of a workspace's own cluster, where its provisioner can take them: of how it was made, to make it anew in no time, and of steps, to go back to how they began. They live and
 * go with the cluster.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/object.ts';
import { clusters } from '../../api/resources.ts';
import { type Clock, sleep } from '../../clock.ts';
import { ignoreNotFound } from '../../kube/index.ts';
import type { ClusterRef, Provisioner } from '../../provisioners/provisioner.ts';
import type { ClusterWay } from '../../provisioners/registry.ts';
import { findNested, type NestedClusterParts, nestedKey } from './nested-cluster.ts';

/** The step, and which visit to it: going back is done once for each. */
const RESTORED_FOR = 'workshop.platform/restored-for';
/** Before the first step. */
const MADE = 'made';
/** How often a cluster is looked at that has to stand still. */
const SETTLE_MS = 150;

// biome-ignore lint/suspicious/noExplicitAny: each way has a spec of its own.
type AnyProvisioner = Provisioner<any>;

export interface SnapshotParts extends NestedClusterParts {
  clock: Clock;
}

export class NestedSnapshots {
  readonly #parts: NestedClusterParts;
  readonly #provisioner: Required<Pick<AnyProvisioner, 'snapshot' | 'restore'>>;
  readonly #ref: ClusterRef<unknown>;
  readonly #clock: Clock;

  private constructor(parts: SnapshotParts, provisioner: AnyProvisioner, ref: ClusterRef<unknown>) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#provisioner = provisioner as Required<AnyProvisioner>;
    this.#ref = ref;
  }

  /** Undefined where the provisioner takes none, or before there is a cluster. */
  static async of(
    parts: SnapshotParts,
    way: ClusterWay,
    provisioner: AnyProvisioner,
  ): Promise<NestedSnapshots | undefined> {
    if (!provisioner.snapshot || !provisioner.restore) return undefined;
    const { store, instance, signal } = parts;
    const object = await store.get(way.resource, nestedKey(instance), { signal }).catch(ignoreNotFound);
    if (!object) return undefined;
    const ref = { id: object.metadata.uid as string, name: way.outsideName(object), spec: object.spec };
    return new NestedSnapshots(parts, provisioner, ref);
  }

  async keepAsMade(): Promise<void> {
    await this.#keep(MADE);
  }

  async keep(step: SnapshotStep): Promise<void> {
    await this.#keep(labelOf(step));
  }

  /** False when there is nothing to go back to. */
  async goBackToMade(visit: string): Promise<boolean> {
    return await this.#goBack(MADE, visit);
  }

  async goBackTo(step: SnapshotStep, visit: string): Promise<boolean> {
    return await this.#goBack(labelOf(step), visit);
  }

  /** A moment: provisioners do not wait for ever for what never comes to rest. */
  async #keep(label: string): Promise<void> {
    const { signal } = this.#parts;
    while (!(await this.#provisioner.snapshot(this.#ref, label, signal))) {
      await sleep(this.#clock, SETTLE_MS, signal);
    }
  }

  async #goBack(label: string, visit: string): Promise<boolean> {
    const { store, instance, signal } = this.#parts;
    const cluster = await findNested(this.#parts);
    if (cluster?.metadata.annotations?.[RESTORED_FOR] === visit) return true;
    if (!(await this.#provisioner.restore(this.#ref, label, signal))) return false;
    const body = { metadata: { annotations: { [RESTORED_FOR]: visit } } };
    await store.patch(clusters, nestedKey(instance), { type: 'merge', body }, { signal });
    return true;
  }
}

export interface SnapshotStep {
  id: string;
  manifests?: string;
}

/** An author who changes what a step begins with gets another snapshot. */
function labelOf({ id, manifests = '' }: SnapshotStep): string {
  return `step-${id}-${createHash('sha256').update(manifests).digest('hex').slice(0, 8)}`;
}

export function usesReset(template: KubeObject): boolean {
  return (template.spec?.steps ?? []).some(({ cluster }: { cluster?: string }) => cluster === 'reset');
}

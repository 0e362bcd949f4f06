/** One reconcile of one object whose cluster a provisioner makes. */
import type { KubeObject } from '../api/object.ts';
import type { Clock } from '../clock.ts';
import { diskFailure, RookeryError } from '../errors.ts';
import {
  EventRecorder,
  ensureFinalizer,
  getCondition,
  hasFinalizer,
  type ObjectStore,
  PatchHelper,
  type ReconcileContext,
  type Result,
  removeCondition,
  removeFinalizer,
  requeueAfter,
  setCondition,
  setPaused,
} from '../kube/index.ts';
import { placeOfMaker } from '../provisioners/cluster-place.ts';
import type { HostPolicy } from '../provisioners/host-policy.ts';
import type {
  ClusterRef,
  Observation,
  Progress,
  Provisioner,
  Removal,
  StoreDecision,
} from '../provisioners/provisioner.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { hostRefusal, namespaceRefusal } from './host-gate.ts';
import { writeJournal } from './journal.ts';
import { deleteKubeconfigSecret, writeKubeconfigSecret } from './kubeconfig-secret.ts';
import { explain, remember, reportProgress, reportStalled } from './progress-status.ts';
import { progressOf, type Resolved, refusedUpgrade, requestedOf, taken } from './resolution.ts';

/** Set to `true`, the cluster is stopped and what it stored is kept. */
export const SUSPENDED_ANNOTATION = 'rookery.dev/suspended';
/** `restore` or `start-empty`: what shall become of a cluster whose store is lost or damaged. Taken away once it is done. */
export const STORE_DECISION_ANNOTATION = 'rookery.dev/store-decision';
/** Set to `true`, a deletion that cannot reach the world gives up what is left there. */
export const ABANDON_ANNOTATION = 'rookery.dev/abandon';

export interface ScopeParts<Spec> {
  store: ObjectStore;
  way: ClusterWay;
  host: HostPolicy;
  provisioner: Provisioner<Spec>;
  context: ReconcileContext;
  object: KubeObject;
  cluster: KubeObject | undefined;
  /** Runs of tools that are in the journal already. */
  journaled: Set<string>;
}

type Draft = KubeObject & { status: Record<string, unknown> };

export class ProvisionedClusterScope<Spec> {
  readonly #store: ObjectStore;
  readonly #way: ClusterWay;
  readonly #host: HostPolicy;
  readonly #provisioner: Provisioner<Spec>;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #context: ReconcileContext;
  readonly #cluster: KubeObject | undefined;
  readonly #journaled: Set<string>;
  #object: KubeObject;

  constructor({ store, way, host, provisioner, context, object, cluster, journaled }: ScopeParts<Spec>) {
    this.#store = store;
    this.#way = way;
    this.#host = host;
    this.#provisioner = provisioner;
    this.#context = context;
    this.#signal = context.signal;
    this.#clock = context.clock;
    this.#object = object;
    this.#cluster = cluster;
    this.#journaled = journaled;
  }

  async pause(): Promise<void> {
    await this.#change((draft) => void setPaused(draft, this.#cluster, this.#clock));
  }

  async ensure(older: KubeObject | undefined): Promise<Result> {
    const refusal = await hostRefusal(this.#host, this.#way, this.#object);
    if (refusal) return await this.#refuse(refusal);
    // Intent before effect: the finalizer and what was decided are stored before there is anything to clean up.
    this.#object = await ensureFinalizer(this.#store, this.#way.resource, this.#object, this.#finalizer, this.#signal);
    const progress =
      older && !this.#isInitialized ? taken(this.#object, older, this.#way.outsideName(older)) : await this.#next();
    const { endpoint } = progress.cluster ?? {};
    // Before the status: who sees that the cluster is provisioned must find its address.
    if (progress.phase === 'ready' && endpoint) {
      await this.#change((draft) => {
        draft.spec = { ...draft.spec, controlPlaneEndpoint: endpoint };
      });
    }
    await this.#journal(progress.transcript);
    await this.#change(async (draft) => {
      setPaused(draft, this.#cluster, this.#clock);
      draft.status.observedGeneration = draft.metadata.generation;
      if (progress.cluster) observed(draft, progress.cluster, this.#clock);
      draft.status.ready = progress.phase === 'ready';
      if (progress.phase === 'ready') {
        await this.#ready(draft);
        delete draft.metadata.annotations?.[STORE_DECISION_ANNOTATION];
      }
      if (progress.phase === 'blocked' || progress.phase === 'refused') {
        draft.status.failureMessage = `${progress.reason}: ${progress.message}`;
      } else {
        delete draft.status.failureMessage;
      }
      reportProgress(draft, progress, this.#clock);
    });
    return progress.lookAgainMs === undefined ? undefined : requeueAfter(progress.lookAgainMs);
  }

  /** Nothing is done for the object: what runs goes on as it is, and what is not there is not made. */
  async #refuse(refusal: Progress): Promise<Result> {
    await this.#change((draft) => {
      setPaused(draft, this.#cluster, this.#clock);
      if (this.#isInitialized) return reportStalled(draft, refusal, this.#clock);
      draft.status.observedGeneration = draft.metadata.generation;
      draft.status.ready = false;
      draft.status.failureMessage = `${refusal.reason}: ${refusal.message}`;
      reportProgress(draft, refusal, this.#clock);
    });
    return refusal.lookAgainMs === undefined ? undefined : requeueAfter(refusal.lookAgainMs);
  }

  async remove(): Promise<Result> {
    if (!hasFinalizer(this.#object, this.#finalizer)) return undefined;
    const removal = await this.#removal();
    const isAbandoned = !removal.isDone && this.#object.metadata.annotations?.[ABANDON_ANNOTATION] === 'true';
    const removed = [...removal.removed];
    const isOver = removal.isDone || isAbandoned;
    if (isOver) removed.push(...(await this.#deleteSecrets()));
    const { reason, message, next } = removal;
    const story = [removed.join(', '), message].filter(Boolean).join(': ');
    // A status that goes with the object in the next moment is read by nobody: then the event says it all.
    const isLast = isOver && this.#object.metadata.finalizers?.length === 1;
    if (!isLast) await this.#removing(isAbandoned ? 'Abandoned' : reason, story, { reason, message, next });
    if (removed.length > 0) this.#tell('Removed', `removed ${removed.join(', ')}`);
    else if (removal.isDone) this.#tell('Gone', message);
    if (isAbandoned) this.#tell('Abandoned', message);
    if (!isOver) return requeueAfter(removal.lookAgainMs ?? 1000);
    await removeFinalizer(this.#store, this.#way.resource, this.#object, this.#finalizer, this.#signal);
    return undefined;
  }

  async #removing(
    event: string,
    story: string,
    { reason, message, next }: Pick<Removal, 'reason' | 'message' | 'next'>,
  ): Promise<void> {
    await this.#change((draft) => {
      const text = explain({ phase: 'working', reason, message, next });
      draft.status.ready = false;
      setCondition(draft, { type: 'Deleting', status: 'True', reason, message: text }, this.#clock);
      for (const type of ['Available', 'Ready']) {
        setCondition(draft, { type, status: 'False', reason: 'Deleting', message: text }, this.#clock);
      }
      remember(draft, event, story, this.#clock);
    });
  }

  get #finalizer(): string {
    return `${this.#way.resource.kind.toLowerCase()}.${this.#way.resource.group}`;
  }

  get #isInitialized(): boolean {
    return this.#object.status?.initialization?.provisioned === true;
  }

  get #isSuspended(): boolean {
    return getCondition(this.#object, 'Ready')?.reason === 'Suspended';
  }

  async #ref(): Promise<ClusterRef<Spec>> {
    const access = await this.#way.access?.(this.#store, this.#object, this.#signal);
    const parts = { store: this.#store, policy: this.#host, signal: this.#signal };
    return {
      id: this.#object.metadata.uid as string,
      name: this.#way.outsideName(this.#object),
      spec: this.#object.spec as Spec,
      place: await placeOfMaker(parts, this.#way, this.#object),
      ...(access ? { access } : {}),
    };
  }

  async #next(): Promise<Progress> {
    try {
      const ref = await this.#ref();
      if (this.#object.metadata.annotations?.[SUSPENDED_ANNOTATION] === 'true' && this.#isInitialized) {
        const progress = await this.#provisioner.suspend(ref, this.#signal);
        if (progress.phase !== 'refused') return progress;
        return { ...(await this.#go(ref)), refusal: progress };
      }
      return await this.#go(ref);
    } catch (caught) {
      const error = diskFailure(caught);
      if (!(error instanceof RookeryError)) throw error;
      return progressOf(error);
    }
  }

  async #go(ref: ClusterRef<Spec>): Promise<Progress> {
    const refusal = await this.#resolve(ref);
    if (refusal) return refusal;
    const resolved = this.#object.status?.resolved as Resolved;
    const decision = this.#object.metadata.annotations?.[STORE_DECISION_ANNOTATION] as StoreDecision | undefined;
    const request = { ...ref, resolved, initialized: this.#isInitialized, decision };
    if (this.#isSuspended) return await this.#provisioner.resume(request, this.#signal);
    const { version } = this.#object.status ?? {};
    const isOther = version && resolved.version && version !== resolved.version;
    if (isOther && this.#isInitialized && this.#provisioner.upgrades === 'in place') {
      return await this.#provisioner.upgrade(request, this.#signal);
    }
    return await this.#provisioner.ensure(request, this.#signal);
  }

  /** Decides once what a version means, and again only when another one is asked for and can be had in place. */
  async #resolve(ref: ClusterRef<Spec>): Promise<Progress | undefined> {
    const requested = requestedOf(this.#object);
    const known = this.#object.status?.resolved as Resolved | undefined;
    const canChange = !this.#isInitialized || this.#provisioner.upgrades === 'in place';
    if (known && (known.requested === requested || !canChange)) return undefined;
    const { image, version } = await this.#provisioner.resolve(ref, this.#signal);
    const refusal = this.#isInitialized && refusedUpgrade(this.#object.status?.version, version);
    if (refusal) return refusal;
    await this.#change((draft) => {
      draft.status.resolved = { requested, image, ...(version ? { version } : {}) };
      draft.status.image ??= image;
      remember(draft, 'Resolved', `Kubernetes ${version ?? 'of the image'} from ${image}`, this.#clock);
    });
    return undefined;
  }

  async #removal(): Promise<Removal> {
    const refusal = namespaceRefusal(this.#host, this.#way, this.#object);
    if (refusal) {
      const next = `${refusal.next}; annotated with ${ABANDON_ANNOTATION}=true the object goes, and what it made stays`;
      return { ...refusal, isDone: false, removed: [], next, lookAgainMs: 60_000 };
    }
    try {
      return await this.#provisioner.remove(await this.#ref(), this.#signal);
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      const { reason, message, next, lookAgainMs } = progressOf(error);
      return { isDone: false, removed: [], reason, message, next, lookAgainMs };
    }
  }

  async #ready(draft: Draft): Promise<void> {
    const ref = await this.#ref();
    const value = await this.#provisioner.kubeconfig(ref, 'external', this.#signal);
    const internal = () => this.#provisioner.kubeconfig(ref, 'internal', this.#signal);
    for (const secret of this.#secrets()) {
      await writeKubeconfigSecret(this.#store, this.#object, { ...secret, value, internal }, this.#signal);
    }
    draft.status.initialization = { provisioned: true, controlPlaneInitialized: true };
    draft.status.externalManagedControlPlane = true;
    draft.status.fidelity = this.#provisioner.fidelity;
  }

  async #journal(transcript: Progress['transcript']): Promise<void> {
    const id = `${this.#object.metadata.uid} ${transcript?.startedAt}`;
    if (!transcript || this.#journaled.has(id)) return;
    await writeJournal(this.#store, this.#object, transcript, this.#signal);
    this.#journaled.add(id);
  }

  #secrets(): { name: string; key: string; cluster?: string }[] {
    const own = this.#way.ownSecret?.(this.#object);
    const cluster = this.#cluster?.metadata.name ?? (own ? undefined : this.#object.metadata.name);
    return [...(own ? [own] : []), ...(cluster ? [{ name: `${cluster}-kubeconfig`, key: 'value', cluster }] : [])];
  }

  async #deleteSecrets(): Promise<string[]> {
    const deleted: string[] = [];
    for (const { name } of this.#secrets()) {
      const isOurs = await deleteKubeconfigSecret(this.#store, this.#object, name, this.#signal);
      if (isOurs) deleted.push(`secret ${name}`);
    }
    return deleted;
  }

  async #change(edit: (draft: Draft) => Promise<void> | void): Promise<void> {
    const helper = new PatchHelper(this.#store, this.#way.resource, this.#object);
    const draft = helper.draft();
    draft.status ??= {};
    await edit(draft as Draft);
    this.#object = (await helper.patch(draft, this.#signal)) ?? this.#object;
  }

  #tell(reason: string, text: string): void {
    const { clock, random, log } = this.#context;
    const component = `rookery-${this.#way.resource.kind.toLowerCase()}`;
    const recorder = new EventRecorder({ store: this.#store, component, clock, random, log });
    recorder.record(this.#object, 'Normal', reason, text);
  }
}

function observed(draft: Draft, cluster: Observation, clock: Clock): void {
  draft.status.nodes = cluster.nodes;
  if (cluster.image) draft.status.image = cluster.image;
  if (cluster.storage) draft.status.storage = cluster.storage;
  if (cluster.version) {
    const replicas = cluster.nodes.filter((node) => node.role === 'control-plane').length;
    draft.status.version = cluster.version;
    draft.status.versions = [{ version: cluster.version, replicas }];
  }
  if (!cluster.outdated) return void removeCondition(draft, 'UpToDate');
  const message = `${cluster.outdated}\nNext: delete the cluster and make it again, or take the change back`;
  setCondition(draft, { type: 'UpToDate', status: 'False', reason: 'RecreateRequired', message }, clock);
}

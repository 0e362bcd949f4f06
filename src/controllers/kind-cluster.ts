/**
 * `KINDCluster` (seed 003): a cluster made by kind, with or without a `Cluster` over it. Meets the InfraCluster and the ControlPlane contract of
 * Cluster API. Its kubeconfig is in the Secret `<clusterName>-config` (key `config`), and for Cluster API in
 * `<cluster>-kubeconfig` (key `value`). No reconcile waits for kind: it does the next step and comes back.
 */
import type { KindCluster } from '../api/infrastructure/kind-cluster.ts';
import type { KubeObject } from '../api/object.ts';
import { clusters, kindClusters, secrets } from '../api/resources.ts';
import type { Clock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import {
  type ControllerOptions,
  EventRecorder,
  ensureFinalizer,
  hasFinalizer,
  type Informers,
  ignoreNotFound,
  isDeleting,
  isPaused,
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
import type { ClusterRef, Observation, Progress, Provisioner } from '../provisioners/provisioner.ts';
import { deleteKubeconfigSecret, writeKubeconfigSecret } from './kubeconfig-secret.ts';
import { ownerCluster } from './ownership.ts';
import { explain, remember, reportProgress } from './progress-status.ts';

const FINALIZER = 'kindcluster.infrastructure.cluster.x-k8s.io';
const MANAGED_BY = 'cluster.x-k8s.io/managed-by';
/** Set to `true`, the containers are stopped and their disks kept. */
export const SUSPENDED_ANNOTATION = 'rookery.dev/suspended';
/** Set to `true`, a deletion that cannot reach Docker gives up what is left there. */
export const ABANDON_ANNOTATION = 'rookery.dev/abandon';

type KindProvisioner = Provisioner<KindCluster['spec']>;

export function kindClusterController(
  store: ObjectStore,
  informers: Informers,
  provisioner: KindProvisioner,
): ControllerOptions {
  const cache = informers.for(kindClusters);
  return {
    name: 'kind-cluster',
    resource: kindClusters,
    owns: [secrets],
    watches: [
      {
        resource: clusters,
        map: (cluster) => {
          const ref = cluster.spec?.infrastructureRef;
          return ref?.kind === kindClusters.kind ? [{ namespace: cluster.metadata.namespace, name: ref.name }] : [];
        },
      },
    ],
    async reconcile(key, context) {
      const found = await store.get(kindClusters, key, { signal: context.signal }).catch(ignoreNotFound);
      if (!found || found.metadata.annotations?.[MANAGED_BY] !== undefined) return;
      const cluster = await ownerCluster(store, found, context.signal);
      const scope = new Scope(store, provisioner, context, found, cluster);
      if (scope.isPaused) return await scope.pause();
      return isDeleting(found) ? await scope.remove() : await scope.ensure(rival(cache.list(), found));
    },
  };
}

/** The object that asked for that cluster first, if it was not this one. */
function rival(all: KubeObject[], object: KubeObject): KubeObject | undefined {
  const age = (o: KubeObject) => `${o.metadata.creationTimestamp} ${o.metadata.uid}`;
  return all.find(
    (other) =>
      other.spec?.clusterName === object.spec?.clusterName &&
      other.metadata.uid !== object.metadata.uid &&
      age(other) < age(object),
  );
}

/** One reconcile of one object. */
class Scope {
  readonly #store: ObjectStore;
  readonly #provisioner: KindProvisioner;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #context: ReconcileContext;
  readonly #cluster: KubeObject | undefined;
  #object: KubeObject;

  constructor(
    store: ObjectStore,
    provisioner: KindProvisioner,
    context: ReconcileContext,
    object: KubeObject,
    cluster: KubeObject | undefined,
  ) {
    this.#store = store;
    this.#provisioner = provisioner;
    this.#context = context;
    this.#signal = context.signal;
    this.#clock = context.clock;
    this.#object = object;
    this.#cluster = cluster;
  }

  get isPaused(): boolean {
    return isPaused(this.#object, this.#cluster);
  }

  async pause(): Promise<void> {
    await this.#change((draft) => void setPaused(draft, this.#cluster, this.#clock));
  }

  async ensure(older: KubeObject | undefined): Promise<Result> {
    // Intent before effect: the finalizer and what was decided are stored before there is anything to clean up.
    this.#object = await ensureFinalizer(this.#store, kindClusters, this.#object, FINALIZER, this.#signal);
    const progress = older && !this.#isInitialized ? taken(this.#object, older) : await this.#next();
    const { endpoint } = progress.cluster ?? {};
    // Before the status: who sees that the cluster is provisioned must find its address.
    if (progress.phase === 'ready' && endpoint) {
      await this.#change((draft) => {
        draft.spec = { ...draft.spec, controlPlaneEndpoint: endpoint };
      });
    }
    await this.#change(async (draft) => {
      setPaused(draft, this.#cluster, this.#clock);
      draft.status.observedGeneration = draft.metadata.generation;
      if (progress.cluster) observed(draft, progress.cluster, this.#clock);
      draft.status.ready = progress.phase === 'ready';
      if (progress.phase === 'ready') await this.#ready(draft);
      if (progress.phase === 'blocked' || progress.phase === 'refused') {
        draft.status.failureMessage = `${progress.reason}: ${progress.message}`;
      } else {
        delete draft.status.failureMessage;
      }
      reportProgress(draft, progress, this.#clock);
    });
    return progress.lookAgainMs === undefined ? undefined : requeueAfter(progress.lookAgainMs);
  }

  async remove(): Promise<Result> {
    if (!hasFinalizer(this.#object, FINALIZER)) return undefined;
    const removal = await this.#provisioner.remove(this.#ref, this.#signal);
    const isAbandoned = !removal.isDone && this.#object.metadata.annotations?.[ABANDON_ANNOTATION] === 'true';
    const removed = [...removal.removed];
    if (removal.isDone || isAbandoned) removed.push(...(await this.#deleteSecrets()));
    await this.#change((draft) => {
      const { reason, message, next } = removal;
      const text = explain({ phase: 'working', reason, message, next });
      draft.status.ready = false;
      setCondition(draft, { type: 'Deleting', status: 'True', reason, message: text }, this.#clock);
      for (const type of ['Available', 'Ready']) {
        setCondition(draft, { type, status: 'False', reason: 'Deleting', message: text }, this.#clock);
      }
      remember(
        draft,
        isAbandoned ? 'Abandoned' : reason,
        [removed.join(', '), message].filter(Boolean).join(': '),
        this.#clock,
      );
    });
    if (removed.length > 0) this.#tell('Removed', `removed ${removed.join(', ')}`);
    if (!removal.isDone && !isAbandoned) return requeueAfter(removal.lookAgainMs ?? 1000);
    this.#tell(isAbandoned ? 'Abandoned' : 'Gone', removal.message);
    await removeFinalizer(this.#store, kindClusters, this.#object, FINALIZER, this.#signal);
    return undefined;
  }

  get #ref(): ClusterRef<KindCluster['spec']> {
    const spec = this.#object.spec as KindCluster['spec'];
    return { id: this.#object.metadata.uid as string, name: spec.clusterName, spec };
  }

  get #isInitialized(): boolean {
    return this.#object.status?.initialization?.provisioned === true;
  }

  async #next(): Promise<Progress> {
    const isSuspended = this.#object.metadata.annotations?.[SUSPENDED_ANNOTATION] === 'true';
    if (isSuspended && this.#isInitialized) return await this.#provisioner.suspend(this.#ref, this.#signal);
    const spec = this.#object.spec as KindCluster['spec'];
    try {
      if (!this.#object.status?.image) {
        const { image, version } = await this.#provisioner.resolve(this.#ref, this.#signal);
        const text = `Kubernetes ${version ?? 'of the image'} from ${image}`;
        await this.#change((draft) => {
          draft.status.image = image;
          remember(draft, 'Resolved', text, this.#clock);
        });
      }
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      return unresolved(error);
    }
    const resolved = { image: this.#object.status?.image as string };
    const request = { ...this.#ref, spec, resolved, initialized: this.#isInitialized };
    return await this.#provisioner.ensure(request, this.#signal);
  }

  async #ready(draft: KubeObject): Promise<void> {
    const kubeconfig = await this.#provisioner.kubeconfig(this.#ref, 'external', this.#signal);
    for (const { name, key, owner } of this.#secretNames()) {
      const secret = { name, data: { [key]: kubeconfig }, cluster: owner };
      await writeKubeconfigSecret(this.#store, this.#object, secret, this.#signal);
    }
    draft.status.initialization = { provisioned: true, controlPlaneInitialized: true };
    draft.status.externalManagedControlPlane = true;
    draft.status.fidelity = this.#provisioner.fidelity;
  }

  #secretNames(): { name: string; key: string; owner?: string }[] {
    const owner = this.#cluster?.metadata.name;
    const own = { name: `${this.#object.spec?.clusterName}-config`, key: 'config' };
    return owner ? [own, { name: `${owner}-kubeconfig`, key: 'value', owner }] : [own];
  }

  async #deleteSecrets(): Promise<string[]> {
    const deleted: string[] = [];
    for (const { name } of this.#secretNames()) {
      const isOurs = await deleteKubeconfigSecret(this.#store, this.#object, name, this.#signal);
      if (isOurs) deleted.push(`secret ${name}`);
    }
    return deleted;
  }

  async #change(
    edit: (draft: KubeObject & { status: Record<string, unknown> }) => Promise<void> | void,
  ): Promise<void> {
    const helper = new PatchHelper(this.#store, kindClusters, this.#object);
    const draft = helper.draft();
    draft.status ??= {};
    await edit(draft as KubeObject & { status: Record<string, unknown> });
    this.#object = (await helper.patch(draft, this.#signal)) ?? this.#object;
  }

  #tell(reason: string, text: string): void {
    const { clock, random, log } = this.#context;
    const recorder = new EventRecorder({ store: this.#store, component: 'rookery-kindcluster', clock, random, log });
    recorder.record(this.#object, 'Normal', reason, text);
  }
}

function observed(draft: KubeObject & { status: Record<string, unknown> }, cluster: Observation, clock: Clock): void {
  draft.status.nodes = cluster.nodes;
  if (cluster.image) draft.status.image = cluster.image;
  if (cluster.version) {
    const replicas = cluster.nodes.filter((node) => node.role === 'control-plane').length;
    draft.status.version = cluster.version;
    draft.status.versions = [{ version: cluster.version, replicas }];
  }
  if (!cluster.outdated) return void removeCondition(draft, 'UpToDate');
  const message = `${cluster.outdated}\nNext: delete the cluster and make it again, or take the change back`;
  setCondition(draft, { type: 'UpToDate', status: 'False', reason: 'RecreateRequired', message }, clock);
}

function taken(object: KubeObject, older: KubeObject): Progress {
  const { namespace, name } = older.metadata;
  return {
    phase: 'refused',
    reason: 'NameTaken',
    message: `KINDCluster ${namespace}/${name} has asked for the kind cluster ${object.spec?.clusterName} before`,
    next: 'choose another clusterName; this one goes on when the other is deleted',
    lookAgainMs: 10_000,
  };
}

function unresolved(error: RookeryError): Progress {
  const reasons: Record<string, string> = {
    'docker.unreachable': 'DockerUnreachable',
    'tool.missing': 'ToolMissing',
    'version.unavailable': 'VersionUnavailable',
  };
  return {
    phase: error.retry ? 'blocked' : 'refused',
    reason: reasons[error.code] ?? 'Unresolved',
    message: error.message,
    next: `${error.hint ?? 'see `rookery doctor`'}; looked again every 15 s`,
    lookAgainMs: 15_000,
  };
}

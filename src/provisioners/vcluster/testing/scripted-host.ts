/**
 * A host cluster without nodes: any Kubernetes API, and a script in place of kubelet, StatefulSet controller and syncer. It makes the pod, the volume claim and
 * the kubeconfig Secret that a vcluster would have, a moment later each, and takes them away again.
 */
import type { KubeObject } from '../../../api/object.ts';
import { rfc3339, sleep, systemClock } from '../../../clock.ts';
import { ignoreNotFound, isAlreadyExists, isConflict, keyOf, type ObjectStore } from '../../../kube/index.ts';
import type { HealthProbe } from '../../cluster-health.ts';
import { isPodReady } from '../diagnosis.ts';
import * as host from '../host-resources.ts';
import { SYNCED_LABEL } from '../marks.ts';

const text = (value: string): string => Buffer.from(value).toString('base64');

export class ScriptedHost {
  readonly #store: ObjectStore;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** What the pod says in place of running, by the name of the vcluster. */
  readonly trouble = new Map<string, KubeObject['status']>();
  /** What clusters say when they are asked; nothing is missing by default. */
  missing: string[] = [];

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async start(stepMs = 20): Promise<void> {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'only' } };
    await this.#store.create(host.nodes, node).catch(unless(isAlreadyExists));
    const addresses = [{ type: 'InternalIP', address: '192.0.2.10' }];
    await this.#store.patch(
      host.nodes,
      { name: 'only' },
      { type: 'merge', body: { status: { addresses } } },
      { subresource: 'status' },
    );
    this.#running = this.#run(stepMs);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  readonly probe: HealthProbe = async () => ({
    version: 'v1.35.0',
    nodes: [{ name: 'only', role: 'worker', ready: true }],
    missing: this.missing,
  });

  async #run(stepMs: number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#step().catch((error) => {
        // Somebody deletes the namespace while the script writes into it.
        if (!this.#stop.signal.aborted && !(error as { code?: number }).code) throw error;
      });
      await sleep(systemClock, stepMs, this.#stop.signal).catch(() => {});
    }
  }

  async #step(): Promise<void> {
    const { items } = await this.#store.list(host.statefulSets, { labelSelector: 'app=vcluster' });
    for (const set of items) await this.#bring(set);
    const pods = await this.#store.list(host.pods);
    for (const pod of pods.items) {
      const isOwned = items.some((set) => set.metadata.uid === pod.metadata.labels?.['set-uid']);
      const isDone = pod.metadata.deletionTimestamp !== undefined || !isOwned;
      if (isDone) await this.#store.delete(host.pods, keyOf(pod), { gracePeriodSeconds: 0 }).catch(ignoreNotFound);
    }
    const claims = await this.#store.list(host.claims, { labelSelector: 'app=vcluster' });
    for (const claim of claims.items) {
      if (claim.metadata.finalizers?.length) {
        const patch = { type: 'merge' as const, body: { metadata: { finalizers: null } } };
        await this.#store.patch(host.claims, keyOf(claim), patch).catch(ignoreNotFound);
      }
    }
  }

  async #bring(set: KubeObject): Promise<void> {
    const { namespace, name = '', uid } = set.metadata;
    if (set.metadata.deletionTimestamp) return;
    const key = { namespace, name: `${name}-0` };
    const revision = revisionOf(set);
    const pod = await this.#store.get(host.pods, key).catch(ignoreNotFound);
    if (set.spec?.replicas === 0) {
      if (pod) await this.#store.delete(host.pods, key, { gracePeriodSeconds: 0 }).catch(ignoreNotFound);
    } else if (!pod) {
      await this.#makePod(set);
    } else if (pod.metadata.annotations?.revision !== revision) {
      await this.#store.delete(host.pods, key, { gracePeriodSeconds: 0 }).catch(ignoreNotFound);
    } else if (!pod.metadata.deletionTimestamp) {
      await this.#advance(set, pod);
    }
    const status = { observedGeneration: set.metadata.generation, currentRevision: revision, updateRevision: revision };
    if (set.status?.observedGeneration === set.metadata.generation) return;
    await this.#store
      .patch(host.statefulSets, { namespace, name }, { type: 'merge', body: { metadata: { uid }, status } }, status_)
      .catch(unless(isConflict));
  }

  async #makePod(set: KubeObject): Promise<void> {
    const { namespace, name, uid = '' } = set.metadata;
    const [template] = set.spec?.volumeClaimTemplates ?? [];
    if (template) {
      const { labels } = template.metadata;
      const claim = { ...template, metadata: { namespace, name: `data-${name}-0`, labels } };
      await this.#store.create(host.claims, claim).catch(unless(isAlreadyExists));
    }
    const { labels } = set.spec?.template.metadata ?? {};
    const [container] = set.spec?.template.spec.containers ?? [];
    const pod: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace,
        name: `${name}-0`,
        labels: { ...labels, 'set-uid': uid },
        annotations: { revision: revisionOf(set) },
      },
      spec: { containers: [{ name: 'syncer', image: container.image }], nodeName: 'only' },
    };
    await this.#store.create(host.pods, pod).catch(unless(isAlreadyExists));
  }

  async #advance(set: KubeObject, pod: KubeObject): Promise<void> {
    const { name = '' } = set.metadata;
    const trouble = this.trouble.get(name);
    if (trouble) return void (await this.#status(pod, trouble));
    if (!isPodReady(pod)) {
      const lastTransitionTime = rfc3339(systemClock.now());
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime }];
      await this.#status(pod, { phase: 'Running', hostIP: '192.0.2.10', conditions });
      await this.#writeSecrets(set);
    }
  }

  /** What vcluster writes when it has started, and one object it would sync, all owned by its Service. */
  async #writeSecrets(set: KubeObject): Promise<void> {
    const { namespace, name = '' } = set.metadata;
    const service = await this.#store.get(host.services, { namespace, name });
    const { uid = '' } = service.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name, uid }];
    const credentials = {
      'certificate-authority': text('ca'),
      'client-certificate': text('cert'),
      'client-key': text('key'),
    };
    const secret = (secretName: string, labels: Record<string, string>, data: Record<string, string>) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: secretName, labels, ownerReferences },
      data,
    });
    for (const object of [
      secret(`vc-${name}`, { app: 'vcluster', 'vcluster-name': name }, credentials),
      secret(`${name}-certs`, {}, credentials),
      secret(`settings-x-default-x-${name}`, { [SYNCED_LABEL]: name }, {}),
    ]) {
      await this.#store.create(host.secrets, object).catch(unless(isAlreadyExists));
    }
  }

  async #status(pod: KubeObject, status: KubeObject['status']): Promise<void> {
    await this.#store.patch(host.pods, keyOf(pod), { type: 'merge', body: { status } }, status_).catch(ignoreNotFound);
  }
}

const revisionOf = (set: KubeObject): string => JSON.stringify(set.spec?.template.metadata.annotations ?? {});

const status_ = { subresource: 'status' };

const unless =
  (isExpected: (error: unknown) => boolean) =>
  (error: unknown): void => {
    if (!isExpected(error)) throw error;
  };

/** One reconcile of one `WorkspaceInstance`. */
import type { KubeObject } from '../../api/object.ts';
import { clusters, secrets, workspaceInstances } from '../../api/resources.ts';
import { type Clock, rfc3339 } from '../../clock.ts';
import { diskFailure, RookeryError } from '../../errors.ts';
import {
  applyManifests,
  type EventRecorder,
  ensureFinalizer,
  getCondition,
  hasFinalizer,
  ignoreNotFound,
  keyOf,
  kubeconfigConnection,
  type ObjectStore,
  PatchHelper,
  type ReconcileContext,
  RemoteStore,
  type Result,
  removeCondition,
  removeFinalizer,
  requeueAfter,
  setCondition,
} from '../../kube/index.ts';
import { type ClusterWay, clusterWays } from '../../provisioners/registry.ts';
import type { Workload, WorkloadRequest } from '../../workloads/workload.ts';
import { type Lifetime, lifetimeOf } from './lifetime.ts';
import { ensureNested, type NestedState, nestedKey, removeNested, suspendNested } from './nested-cluster.ts';
import { NestedSnapshots, usesReset } from './nested-snapshots.ts';
import { removeOwnNamespace } from './own-namespace.ts';
import { missingTemplate, refusal } from './refusal.ts';
import { type Settings, settingsOf } from './settings.ts';
import { ensureShared, removeShared, sharedKey } from './shared-cluster.ts';
import type { WorkspaceParts } from './workspace-parts.ts';

const FINALIZER = 'workspaceinstance.workshop.platform';

type Draft = KubeObject & { status: Record<string, unknown> };
type Outcome = 'True' | 'False' | 'Unknown';

interface TemplateStep {
  id: string;
  title: string;
  imageTag: string;
  cluster?: 'keep' | 'reset' | 'restore';
  env?: Record<string, string>;
  files?: { path: string; content: string; mode?: string }[];
  manifests?: string;
  checks?: unknown[];
}

export interface ScopeSurroundings {
  store: ObjectStore;
  parts: WorkspaceParts;
  context: ReconcileContext;
  recorder: EventRecorder;
}

export class WorkspaceScope {
  readonly #store: ObjectStore;
  readonly #parts: WorkspaceParts;
  readonly #recorder: EventRecorder;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #object: KubeObject;

  constructor({ store, parts, context, recorder }: ScopeSurroundings, object: KubeObject) {
    this.#store = store;
    this.#parts = parts;
    this.#recorder = recorder;
    this.#clock = context.clock;
    this.#signal = context.signal;
    this.#object = object;
  }

  async ensure(template: KubeObject | undefined): Promise<Result> {
    this.#object = await ensureFinalizer(this.#store, workspaceInstances, this.#object, FINALIZER, this.#signal);
    if (!template) return await this.#refuse(missingTemplate(this.#object));
    const settings = settingsOf(template, this.#object);
    const lifetime = await this.#lifetime(settings);
    if (lifetime.isExpired && settings.mode === 'ephemeral') return await this.#expire();
    const problem = refusal(template, this.#object);
    if (problem) return await this.#refuse(problem, lifetime.lookAgainMs);
    await this.#warn(lifetime);
    const resolved: Mark = ['TemplateResolved', 'True', 'Resolved', ''];
    try {
      if (this.#object.spec?.suspend || lifetime.isExpired || lifetime.isIdle) {
        const reason = this.#object.spec?.suspend ? 'Suspended' : lifetime.isExpired ? 'Expired' : 'Idle';
        return await this.#suspend(settings, reason, resolved, lifetime);
      }
      return await this.#run(template, settings, resolved, lifetime);
    } catch (caught) {
      const error = diskFailure(caught);
      if (!(error instanceof RookeryError)) throw error;
      const message = [error.message, error.hint && `Next: ${error.hint}`].filter(Boolean).join('\n');
      await this.#report(error.retry ? 'Provisioning' : 'Failed', [
        resolved,
        ['WorkloadReady', 'False', 'Blocked', message],
      ]);
      return requeueAfter(error.retry ? 3000 : 15_000);
    }
  }

  /** Whoever asks something of their cluster uses the workspace, too; looked at only when nobody seems to. */
  async #lifetime(settings: Settings): Promise<Lifetime> {
    const look = () => lifetimeOf(settings, this.#object.status ?? {}, this.#clock.now());
    const lifetime = look();
    if (!lifetime.isIdle || this.#object.status?.phase !== 'Running') return lifetime;
    const way = await this.#way(settings);
    const at = way && this.#parts.lastCallAt(way, this.#object, settings.cluster.mode === 'shared');
    if (at === undefined || at <= Date.parse(this.#object.status?.lastActivityAt ?? '1970-01-01T00:00:00Z'))
      return lifetime;
    await this.#change((draft) => {
      draft.status.lastActivityAt = rfc3339(at);
    });
    return look();
  }

  async remove(): Promise<Result> {
    if (!hasFinalizer(this.#object, FINALIZER)) return undefined;
    this.#parts.endTerminal(this.#ref.id);
    const removed: string[] = [];
    for (const workload of this.#parts.workloads) {
      const removal = await workload.remove(this.#ref, this.#signal);
      removed.push(...removal.removed);
      if (removal.isDone) continue;
      await this.#report('Terminating', [['WorkloadReady', 'False', removal.reason, removal.message]]);
      return requeueAfter(removal.lookAgainMs ?? 1000);
    }
    if (!(await removeNested(this.#nested)) || !(await removeShared(this.#nested))) {
      await this.#report('Terminating', [['ClusterReady', 'False', 'Deleting', 'the nested cluster is being deleted']]);
      return requeueAfter(1000); // Told by the watch of Clusters as well, but for what is in one that is shared.
    }
    this.#tell('Normal', 'Gone', `removed ${[...removed, 'the nested cluster'].join(', ')}`);
    // Before the finalizer, so that a crash in between leaves none behind: it waits for the instance in it.
    await removeOwnNamespace(this.#store, this.#object, this.#signal);
    await removeFinalizer(this.#store, workspaceInstances, this.#object, FINALIZER, this.#signal);
    return undefined;
  }

  async #run(template: KubeObject, settings: Settings, resolved: Mark, lifetime: Lifetime): Promise<Result> {
    const steps: TemplateStep[] = template.spec?.steps ?? [];
    // Nobody is moved because an author put a step before theirs.
    const { currentStep: at } = this.#object.status ?? {};
    const wanted = this.#object.spec?.currentStep ?? at;
    const step = steps.find(({ id }) => id === wanted) ?? steps[0];
    const isNewStep = step !== undefined && this.#object.status?.currentStep !== step.id;
    const way = await this.#way(settings);
    const cluster = await this.#cluster(template, settings, way, isNewStep ? step : undefined);
    if (!cluster.isReady) {
      await this.#report('Provisioning', [resolved, ['ClusterReady', 'False', cluster.reason, cluster.message]]);
      const soonest = Math.min(
        lifetime.lookAgainMs ?? Number.POSITIVE_INFINITY,
        cluster.lookAgainMs ?? Number.POSITIVE_INFINITY,
      );
      return Number.isFinite(soonest) ? requeueAfter(soonest) : undefined;
    }
    const ready: Mark = ['ClusterReady', 'True', way ? 'Ready' : 'NotNeeded', ''];
    if (isNewStep && step && !cluster.isRestored) {
      if (step.manifests && cluster.external) await applyTo(cluster, step, this.#signal);
      if (step.cluster === 'restore') await (await this.#snapshots(settings, way))?.keep(step);
    }
    const workload = await this.#parts.chooseWorkload(way);
    const bring = step ? broughtBy(steps, step) : { id: 'start' };
    const request = {
      ...(await this.#request(template, settings, workload, cluster, bring)),
      network: cluster.network,
    };
    const state = await workload.ensure(request, this.#signal);
    if (state.phase !== 'ready') {
      const text = [state.message, state.next && `Next: ${state.next}`].filter(Boolean).join('\n');
      const phase = state.phase === 'refused' ? 'Failed' : 'Provisioning';
      await this.#report(phase, [resolved, ready, ['WorkloadReady', 'False', state.reason, text]]);
      return requeueAfter(state.lookAgainMs ?? 15_000);
    }
    // Only now: who comes back at once finds the new step.
    if (isNewStep && at) this.#parts.endTerminal(this.#ref.id);
    if (isNewStep && step) {
      const how = cluster.isRestored ? ', with the cluster as it was when the step first began' : '';
      this.#tell('Normal', 'StepBegun', `step ${step.id} has begun${how}`);
    }
    await this.#running(settings, workload, way, step, [
      resolved,
      ready,
      ['WorkloadReady', 'True', 'Ready', state.message],
    ]);
    const now = lifetimeOf(settings, this.#object.status ?? {}, this.#clock.now());
    // What became due meanwhile is no longer to come: nobody would look again.
    if (now.isExpired || now.isIdle || now.isExpiring !== lifetime.isExpiring) return requeueAfter(1);
    return now.lookAgainMs === undefined ? undefined : requeueAfter(now.lookAgainMs);
  }

  async #running(
    settings: Settings,
    workload: Workload,
    way: ClusterWay | undefined,
    step: TemplateStep | undefined,
    marks: Mark[],
  ): Promise<void> {
    const url = this.#terminalUrl(settings);
    const terminal: Mark = url
      ? ['TerminalReady', 'True', 'Ready', '']
      : ['TerminalReady', 'False', 'Off', settings.webTerminal ? 'no terminal is served here' : 'switched off'];
    await this.#report('Running', [...marks, terminal], (draft) => {
      const now = rfc3339(this.#clock.now());
      draft.status.startedAt ??= now;
      draft.status.workload = workload.name;
      const { expiresAt } = lifetimeOf(settings, draft.status, this.#clock.now());
      if (expiresAt) draft.status.expiresAt = expiresAt;
      else delete draft.status.expiresAt;
      offer(draft, url);
      if (way && settings.cluster.mode === 'per-workspace') draft.status.clusterRef = { name: this.#ref.name };
      if (step) enter(draft, step, now);
    });
  }

  #terminalUrl({ webTerminal }: Settings): string | undefined {
    const { namespace = '', name = '' } = this.#object.metadata;
    return webTerminal ? this.#parts.terminalUrl(namespace, name) : undefined;
  }

  async #suspend(settings: Settings, reason: string, resolved: Mark, lifetime: Lifetime): Promise<Result> {
    const way = await this.#way(settings);
    this.#parts.endTerminal(this.#ref.id);
    const used = this.#parts.workloads.filter(({ name }) => name === this.#object.status?.workload);
    for (const workload of used) await workload.suspend(this.#ref, this.#signal);
    if (way && settings.cluster.mode === 'per-workspace') await suspendNested(this.#nested, way, true);
    const texts: Record<string, string> = {
      Suspended: `suspended by spec.suspend\nNext: rookery workspace resume ${this.#ref.name}`,
      Expired: `its time is up\nNext: a longer life brings it back: rookery workspace extend ${this.#ref.name} --ttl 24h`,
      Idle: 'nobody used it\nNext: opening its page or a key in its terminal brings it back',
    };
    const stopped = ['WorkloadReady', 'ClusterReady', 'TerminalReady'].map(
      (type): Mark => [type, 'False', reason, texts[reason] as string],
    );
    await this.#report('Suspended', [resolved, ...stopped], (draft) => {
      if (lifetime.expiresAt) draft.status.expiresAt = lifetime.expiresAt;
      // Opening its page is what wakes it: that has to be where it is served today.
      offer(draft, this.#terminalUrl(settings));
    });
    // Its time goes on.
    return lifetime.isExpired || lifetime.lookAgainMs === undefined ? undefined : requeueAfter(lifetime.lookAgainMs);
  }

  async #refuse({ reason, message }: { reason: string; message: string }, lookAgainMs?: number): Promise<Result> {
    await this.#report('Failed', [['TemplateResolved', 'False', reason, message]]);
    return lookAgainMs === undefined ? undefined : requeueAfter(lookAgainMs);
  }

  async #cluster(
    template: KubeObject,
    settings: Settings,
    way: ClusterWay | undefined,
    step: TemplateStep | undefined,
  ): Promise<NestedState> {
    if (!way) return { isReady: true, reason: 'NotNeeded', message: '' };
    const isFresh = step?.cluster === 'reset' || step?.cluster === 'restore';
    const visit = `${step?.id}/${(this.#object.status?.stepHistory ?? []).length}`;
    const madeFor = isFresh ? visit : undefined;
    if (settings.cluster.mode === 'shared') return await ensureShared(this.#nested, { settings, way, madeFor });
    await suspendNested(this.#nested, way, false);
    const ensure = (made: string | undefined) => ensureNested(this.#nested, way, settings.cluster.version, made);
    const snapshots = await this.#snapshots(settings, way);
    if (!snapshots) return await ensure(madeFor);
    const state = await ensure(undefined);
    if (!state.isReady || !step) return state;
    const isFirst = !this.#object.status?.currentStep;
    if (isFirst && usesReset(template)) await snapshots.keepAsMade();
    if (step.cluster === 'restore') return { ...state, isRestored: await snapshots.goBackTo(step, visit) };
    if (step.cluster !== 'reset' || isFirst || (await snapshots.goBackToMade(visit))) return state;
    return await ensure(visit);
  }

  async #snapshots(settings: Settings, way: ClusterWay | undefined): Promise<NestedSnapshots | undefined> {
    if (!way || settings.cluster.mode !== 'per-workspace') return undefined;
    return await NestedSnapshots.of({ ...this.#nested, clock: this.#clock }, way, await this.#parts.open(way));
  }

  /** The way its cluster was made stays, whatever would be chosen today. */
  async #way({ cluster }: Settings): Promise<ClusterWay | undefined> {
    if (cluster.mode === 'none') return undefined;
    const isShared = cluster.mode === 'shared';
    const key = isShared ? sharedKey(this.#object) : nestedKey(this.#object);
    const found = await this.#store.get(clusters, key, { signal: this.#signal }).catch(ignoreNotFound);
    const made = clusterWays.find(({ resource }) => resource.kind === found?.spec?.infrastructureRef?.kind);
    return made ?? (await this.#parts.chooseWay(cluster.provisioner));
  }

  async #request(
    template: KubeObject,
    { limits, egress }: Settings,
    workload: Workload,
    cluster: NestedState,
    step: WorkloadRequest['step'],
  ): Promise<WorkloadRequest> {
    const kubeconfig = workload.audience === 'internal' ? cluster.internal : cluster.external;
    const pullSecrets = await this.#pullSecrets(template);
    return {
      ...this.#ref,
      step,
      ...(kubeconfig ? { kubeconfig } : {}),
      ...(Object.keys(limits).length > 0 ? { limits } : {}),
      ...(pullSecrets.length > 0 ? { pullSecrets } : {}),
      ...(egress.length > 0 ? { egress } : {}),
    };
  }

  async #pullSecrets(template: KubeObject): Promise<string[]> {
    const texts: string[] = [];
    for (const { name } of (template.spec?.imagePullSecrets ?? []) as { name: string }[]) {
      const key = { namespace: this.#object.metadata.namespace, name };
      const secret = await this.#store.get(secrets, key, { signal: this.#signal }).catch(ignoreNotFound);
      const data = secret?.data?.['.dockerconfigjson'];
      if (data) texts.push(Buffer.from(data, 'base64').toString());
    }
    return texts;
  }

  async #expire(): Promise<Result> {
    this.#tell('Normal', 'Expired', `its time was up at ${this.#object.status?.expiresAt}`);
    await this.#store.delete(workspaceInstances, keyOf(this.#object), { signal: this.#signal }).catch(ignoreNotFound);
    return undefined;
  }

  async #warn({ isExpiring, isExpired, expiresAt }: Lifetime): Promise<void> {
    const isWarned = getCondition(this.#object, 'Expiring')?.status === 'True';
    if (isExpiring === isWarned || isExpired) return;
    if (!isExpiring) return await this.#change((draft) => removeCondition(draft, 'Expiring'));
    const message = `its time is up at ${expiresAt}; \`rookery workspace extend\` gives it more`;
    this.#tell('Warning', 'Expiring', message);
    await this.#change((draft) => {
      setCondition(draft, { type: 'Expiring', status: 'True', reason: 'Expiring', message }, this.#clock);
    });
  }

  async #report(phase: string, marks: Mark[], edit: (draft: Draft) => void = () => {}): Promise<void> {
    await this.#change((draft) => {
      draft.status.phase = phase;
      draft.status.observedGeneration = draft.metadata.generation;
      for (const [type, status, reason, message] of marks)
        setCondition(draft, { type, status, reason, message }, this.#clock);
      edit(draft);
      const blocked = marks.find(([type, status]) => status !== 'True' && type !== 'TerminalReady');
      const isRunning = phase === 'Running';
      const [, , why = phase, message = ''] = blocked ?? [];
      const reason = isRunning ? 'Running' : why;
      this.#announce(phase, reason, message);
      setCondition(draft, { type: 'Ready', status: isRunning ? 'True' : 'False', reason, message }, this.#clock);
    });
  }

  /** What becomes of it is told once, when it becomes so. */
  #announce(phase: string, reason: string, message: string): void {
    const before = getCondition(this.#object, 'Ready');
    if (this.#object.status?.phase === phase && before?.reason === reason && before.message === message) return;
    const isTrouble = phase === 'Failed' || reason === 'Blocked';
    this.#tell(isTrouble ? 'Warning' : 'Normal', reason, message.split('\n')[0] || `it is ${phase.toLowerCase()}`);
  }

  get #ref() {
    const { uid, name } = this.#object.metadata;
    return { id: uid as string, name: name as string };
  }

  get #nested() {
    return { store: this.#store, instance: this.#object, host: this.#parts.host, signal: this.#signal };
  }

  async #change(edit: (draft: Draft) => void): Promise<void> {
    const helper = new PatchHelper(this.#store, workspaceInstances, this.#object);
    const draft = helper.draft();
    draft.status ??= {};
    edit(draft as Draft);
    this.#object = (await helper.patch(draft, this.#signal)) ?? this.#object;
  }

  #tell(type: 'Normal' | 'Warning', reason: string, text: string): void {
    this.#recorder.record(this.#object, type, reason, text);
  }
}

type Mark = [type: string, status: Outcome, reason: string, message: string];

/** As its image does, a step has what all before it bring, so that people may begin anywhere. */
function broughtBy(steps: readonly TemplateStep[], step: TemplateStep): WorkloadRequest['step'] {
  const earlier = steps.slice(0, steps.indexOf(step));
  const env = Object.assign({}, ...earlier.map((each) => each.env), step.env) as Record<string, string>;
  // Where several bring the same one, the last of them does.
  const earlierFiles = [
    ...new Map(earlier.flatMap(({ files = [] }) => files).map((file) => [file.path, file])).values(),
  ];
  return { id: step.id, image: step.imageTag, env, files: step.files, earlierFiles };
}

function offer(draft: Draft, webTerminal: string | undefined): void {
  if (webTerminal) draft.status.accessEndpoints = { webTerminal };
  else delete draft.status.accessEndpoints;
}

/** Leaves the step before and enters this one; the history keeps both. */
function enter(draft: Draft, { id: step, checks = [] }: TemplateStep, now: string): void {
  if (draft.status.currentStep === step) return;
  const history = [...((draft.status.stepHistory as { step: string; startedAt: string; finishedAt?: string }[]) ?? [])];
  const last = history.at(-1);
  if (last && !last.finishedAt) history[history.length - 1] = { ...last, finishedAt: now };
  draft.status.stepHistory = [...history, { step, startedAt: now }].slice(-500);
  draft.status.currentStep = step;
  const done = new Set((draft.status.completedSteps as string[] | undefined) ?? []);
  // Where nothing is checked, being there is all there is to do.
  if (checks.length === 0) draft.status.completedSteps = [...done.add(step)];
  // They were about the step before, which may have one of the same name.
  delete draft.status.checks;
}

async function applyTo(
  { external = '', place = 'another machine', namespace }: NestedState,
  { id, manifests = '' }: TemplateStep,
  signal: AbortSignal,
): Promise<void> {
  const store = new RemoteStore({ connection: await kubeconfigConnection(external, place) });
  try {
    await applyManifests(store, manifests, { fieldManager: 'rookery-workshop', namespace, signal });
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    throw new RookeryError('workspace.manifests', `the manifests of step ${id} are not applied: ${error.message}`, {
      class: 'retryable',
      hint: 'correct them in the workshop and sync the template; tried again by itself',
      cause: error,
    });
  } finally {
    await store.close();
  }
}

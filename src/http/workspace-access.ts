/** What the pages of a workspace show and ask for: its state for people, another step, its checks. Works on objects; knows no HTTP. */
import type { KubeObject } from '../api/object.ts';
import { workspaceInstances, workspaceTemplates } from '../api/resources.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import { isRevoked } from '../controllers/workspace/link-records.ts';
import { completedSteps, whyLocked } from '../controllers/workspace/navigation.ts';
import { RookeryError } from '../errors.ts';
import { getCondition, ignoreNotFound, isConflict, type ObjectStore, PatchHelper } from '../kube/index.ts';
import { type CheckResult, runChecks, type StepCheck } from '../workloads/checks.ts';
import type { Workload, WorkspaceRef } from '../workloads/workload.ts';

export interface WorkspaceKey {
  namespace: string;
  name: string;
  /** Where it is given, a workspace made anew under the same name does not count. */
  uid?: string;
  /** Of the link that the student came by, which may have been revoked. */
  id?: string;
  issuedAt?: number;
  expiresAt?: number;
}

export interface WorkspaceView {
  name: string;
  title: string;
  owner: string;
  phase: string;
  /** What it waits for, for people; empty when it runs. */
  waitsFor: string;
  expiresAt?: string;
  currentStep?: string;
  requestedStep?: string;
  /** `locked`: the rule that keeps them out of it. */
  steps: { id: string; title: string; group?: string; isPassed: boolean; locked?: string }[];
  content: string;
  hints?: string;
  checks: { name: string; passed?: boolean; message?: string }[];
}

interface Step {
  id: string;
  title: string;
  group?: string;
  content?: string;
  hints?: string;
  checks?: StepCheck[];
}

interface HistoryEntry {
  step: string;
  startedAt: string;
  result?: string;
}

const ACTIVITY_MS = 60_000;
const CONFLICT_RETRIES = 5;

export class WorkspaceAccess {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #workload: (name: string) => Workload | undefined;
  readonly #seen = new Map<string, number>();
  readonly #checking = new Map<string, Promise<CheckResult[]>>();

  constructor(store: ObjectStore, clock: Clock, workload: (name: string) => Workload | undefined) {
    this.#store = store;
    this.#clock = clock;
    this.#workload = workload;
  }

  async view(key: WorkspaceKey): Promise<WorkspaceView> {
    const { instance, template, step, steps } = await this.#find(key);
    const results: CheckResult[] = instance.status?.checks ?? [];
    const done = completedSteps(instance);
    return {
      name: key.name,
      title: template?.metadata.name ?? instance.spec?.templateRef?.name,
      owner: instance.spec?.owner,
      phase: instance.status?.phase ?? 'Pending',
      waitsFor: instance.status?.phase === 'Running' ? '' : (getCondition(instance, 'Ready')?.message ?? ''),
      expiresAt: instance.status?.expiresAt,
      currentStep: instance.status?.currentStep,
      requestedStep: instance.spec?.currentStep,
      steps: steps.map(({ id, title, group }) => {
        const locked = template && whyLocked(template, instance, id);
        return { id, title, ...(group ? { group } : {}), isPassed: done.includes(id), ...(locked ? { locked } : {}) };
      }),
      content: step?.content ?? '',
      ...(step?.hints ? { hints: step.hints } : {}),
      checks: (step?.checks ?? []).map(({ name }) => ({ name, ...results.find((result) => result.name === name) })),
    };
  }

  async goTo(key: WorkspaceKey, step: string): Promise<void> {
    const { instance, template, steps } = await this.#find(key);
    if (!steps.some(({ id }) => id === step)) {
      throw new RookeryError('workspace.step', `there is no step ${JSON.stringify(step)}`, { class: 'user' });
    }
    const rule = template && whyLocked(template, instance, step);
    if (rule) throw new RookeryError('workspace.locked', `step ${step} is not open: ${rule}`, { class: 'user' });
    const body = { spec: { currentStep: step } };
    const { namespace, name } = key;
    await this.#store.patch(workspaceInstances, { namespace, name }, { type: 'merge', body });
  }

  /** Asked for again while they run, they are not run again. */
  async check(key: WorkspaceKey): Promise<CheckResult[]> {
    const id = idOf(key);
    const going = this.#checking.get(id) ?? this.#check(key).finally(() => this.#checking.delete(id));
    this.#checking.set(id, going);
    return await going;
  }

  async #check(key: WorkspaceKey): Promise<CheckResult[]> {
    const { instance, step } = await this.#find(key);
    const { workload, ref } = this.#shell(instance);
    const results = await runChecks(workload, ref, step?.checks ?? []);
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#record(key, instance.status?.currentStep, results);
        return results;
      } catch (error) {
        if (!isConflict(error) || attempt >= CONFLICT_RETRIES) throw error;
      }
    }
  }

  /** Checks take a while: a workspace that has gone to another step meanwhile does not get their results. */
  async #record(key: WorkspaceKey, step: string | undefined, results: CheckResult[]): Promise<void> {
    const { instance } = await this.#find(key);
    const helper = new PatchHelper(this.#store, workspaceInstances, instance);
    const draft = helper.draft();
    if (draft.status?.currentStep !== step) return;
    const checkedAt = rfc3339(this.#clock.now());
    const result = results.every(({ passed }) => passed) ? 'Passed' : 'Failed';
    const history: HistoryEntry[] = draft.status?.stepHistory ?? [];
    const stepHistory = history.map((entry, index) => (index === history.length - 1 ? { ...entry, result } : entry));
    const checks = results.map((each) => ({ ...each, checkedAt }));
    const done = new Set(completedSteps(instance));
    // What was done once stays done, whatever becomes of it.
    if (step && result === 'Passed') done.add(step);
    const completed = done.size > 0 ? { completedSteps: [...done] } : {};
    draft.status = { ...draft.status, checks, stepHistory, ...completed, lastActivityAt: checkedAt };
    await helper.patch(draft);
  }

  /** Where its shell runs; throws while it does not run. */
  async shell(key: WorkspaceKey): Promise<{ workload: Workload; ref: WorkspaceRef }> {
    return this.#shell((await this.#find(key)).instance);
  }

  /** Throws when the link that the student came by has been revoked, or the workspace is gone. */
  async checkLink(key: WorkspaceKey): Promise<void> {
    await this.#instance(key);
  }

  /** What its workload said, also while it does not run. */
  async logs(key: WorkspaceKey, since?: string): Promise<string[]> {
    const { instance } = await this.#find(key);
    const ref = { id: instance.metadata.uid as string, name: instance.metadata.name as string };
    return (await this.#workload(instance.status?.workload ?? '')?.logs(ref, since)) ?? [];
  }

  /** Somebody is there: written at most once a minute. */
  async touch(key: WorkspaceKey): Promise<void> {
    if (this.#clock.now() - (this.#seen.get(idOf(key)) ?? 0) >= ACTIVITY_MS) await this.#write(key);
  }

  /** Somebody came to a workspace that is suspended because nobody used it. */
  async wake(key: WorkspaceKey): Promise<void> {
    const { instance } = await this.#find(key);
    const isIdle = instance.status?.phase === 'Suspended' && getCondition(instance, 'Ready')?.reason === 'Idle';
    if (isIdle) await this.#write(key);
  }

  async #write(key: WorkspaceKey): Promise<void> {
    const now = this.#clock.now();
    this.#seen.set(idOf(key), now);
    const { namespace, name } = key;
    const body = { status: { lastActivityAt: rfc3339(now) } };
    await this.#store
      .patch(workspaceInstances, { namespace, name }, { type: 'merge', body }, { subresource: 'status' })
      .catch(ignoreNotFound);
  }

  #shell(instance: KubeObject): { workload: Workload; ref: WorkspaceRef } {
    const workload = this.#workload(instance.status?.workload ?? '');
    if (instance.status?.phase !== 'Running' || !workload) {
      const message = `the workspace is ${instance.status?.phase ?? 'Pending'}`;
      throw new RookeryError('workspace.not-running', message, { class: 'retryable' });
    }
    return { workload, ref: { id: instance.metadata.uid as string, name: instance.metadata.name as string } };
  }

  async #find(key: WorkspaceKey) {
    const instance = await this.#instance(key);
    const name = instance.spec?.templateRef?.name as string;
    const template = await this.#store.get(workspaceTemplates, { name }).catch(ignoreNotFound);
    const steps: Step[] = template?.spec?.steps ?? [];
    const current = instance.status?.currentStep ?? instance.spec?.currentStep ?? steps[0]?.id;
    return { instance, template, steps, step: steps.find(({ id }) => id === current) };
  }

  async #instance(key: WorkspaceKey): Promise<KubeObject> {
    const { namespace, name } = key;
    const instance = await this.#store.get(workspaceInstances, { namespace, name }).catch(ignoreNotFound);
    if (!instance || (key.uid !== undefined && key.uid !== instance.metadata.uid)) {
      throw new RookeryError('workspace.missing', `there is no workspace ${name}`, { class: 'user' });
    }
    if (isRevoked(instance, key)) {
      const hint = 'ask for a new one with `rookery workspace open`';
      throw new RookeryError('workspace.revoked', 'this link has been revoked', { class: 'user', hint });
    }
    return instance;
  }
}

function idOf({ namespace, name }: WorkspaceKey): string {
  return `${namespace}/${name}`;
}

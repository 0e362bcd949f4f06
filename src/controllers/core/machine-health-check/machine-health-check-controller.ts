/**
 * `MachineHealthCheck`: looks after machines, marks unhealthy ones and, unless too many are, asks their owner (or an
 * external controller) to replace them.
 */
import { matchesLabels, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import { clusters, machineHealthChecks, machines } from '../../../api/resources.ts';
import {
  type ConditionInput,
  type ControllerOptions,
  exceptStatus,
  ignoreNotFound,
  isConditionTrue,
  isDeleting,
  isPaused,
  keyOf,
  ownerReference,
  PAUSED_ANNOTATION,
  PatchHelper,
  requeueAfter,
  setCondition,
  withOwner,
} from '../../../kube/index.ts';
import { isSame } from '../../../kube/merge-patch.ts';
import { begin } from '../begin.ts';
import { listOfCluster, ofCluster } from '../caches.ts';
import { hasCondition } from '../conditions.ts';
import { type Core, clusterOf } from '../core.ts';
import { ANNOTATION, LABEL } from '../names.ts';
import { requestRemediation, withdrawRemediation } from './external-remediation.ts';
import { judge, type Target, type Verdict } from './machine-health.ts';
import { allowance } from './remediation-allowance.ts';

const FIRST_LIST_MS = 2_000;

export function machineHealthCheckController(core: Core): ControllerOptions {
  const { store, caches } = core;
  return {
    name: 'machine-health-check',
    resource: machineHealthChecks,
    filter: exceptStatus,
    watches: [
      { resource: machines, filter: concernsHealth, map: (machine) => checksOf(core, machine).map(keyOf) },
      { resource: clusters, map: (cluster) => ofCluster(caches.machineHealthChecks, cluster).map(keyOf) },
    ],
    async reconcile(key, { signal, clock }) {
      const check = await store.get(machineHealthChecks, key, { signal }).catch(ignoreNotFound);
      if (!check || isDeleting(check)) return;
      const cluster = await clusterOf(core, check, signal);
      if (!cluster) return;
      const begun = await begin({ store, resource: machineHealthChecks, found: check, cluster, clock, signal });
      if (!begun) return;
      const { helper, draft } = begun;
      draft.metadata.labels = { ...draft.metadata.labels, [LABEL.clusterName]: check.spec.clusterName };
      draft.metadata.ownerReferences = withOwner(draft, ownerReference(cluster)).metadata.ownerReferences;
      const targets = await findTargets(core, check, cluster, signal);
      // Nothing can be said of nodes that cannot be seen; a connection that comes is told, a first list is not.
      if (!targets) {
        await helper.patch(draft, signal);
        return core.workloads.connection(keyOf(cluster)) ? requeueAfter(FIRST_LIST_MS) : undefined;
      }
      const againMs = await act(core, draft, targets, signal);
      draft.status.observedGeneration = check.metadata.generation;
      await helper.patch(draft, signal);
      return againMs === undefined ? undefined : requeueAfter(againMs);
    },
  };
}

/** The health checks that look after a machine. */
export function checksOf({ caches }: Core, machine: KubeObject): KubeObject[] {
  const cluster = `${machine.metadata.namespace}/${machine.spec?.clusterName}`;
  return caches.machineHealthChecks.byIndex('cluster', cluster).filter((check) => selects(check, machine));
}

function selects(check: KubeObject, machine: KubeObject): boolean {
  return matchesLabels(selectorFromObject(check.spec.selector) ?? [], machine.metadata.labels);
}

function concernsHealth(machine: KubeObject, old?: KubeObject): boolean {
  if (!old) return true;
  const read = ({ metadata, status }: KubeObject) => [
    metadata.labels,
    metadata.annotations,
    metadata.deletionTimestamp,
    status?.nodeRef,
    status?.conditions,
  ];
  return !isSame(read(machine), read(old));
}

/** Undefined while the nodes of the cluster are not known. */
async function findTargets(
  core: Core,
  check: KubeObject,
  cluster: KubeObject,
  signal: AbortSignal,
): Promise<Target[] | undefined> {
  const found = (await listOfCluster(core.store, machines, cluster, signal)).filter(
    (machine) =>
      selects(check, machine) &&
      [PAUSED_ANNOTATION, ANNOTATION.skipRemediation].every(
        (annotation) => machine.metadata.annotations?.[annotation] === undefined,
      ),
  );
  const target = (machine: KubeObject): Target => ({ machine, cluster, check, nodeGone: false });
  if (!isConditionTrue(cluster, 'ControlPlaneInitialized') || found.length === 0) return found.map(target);
  core.workloads.want(keyOf(cluster));
  const nodes = core.workloads.connection(keyOf(cluster))?.nodes;
  if (!nodes) return undefined;
  return found.map((machine) => {
    const name: string | undefined = machine.status?.nodeRef?.name;
    const node = name === undefined ? undefined : nodes.get({ name });
    return { ...target(machine), node, nodeGone: name !== undefined && node === undefined };
  });
}

/** Marks every machine; says when the next of them may become unhealthy. */
async function act(core: Core, draft: KubeObject, targets: Target[], signal: AbortSignal): Promise<number | undefined> {
  const now = core.clock.now();
  const judged = targets.map((target) => ({ target, verdict: judge(target, now) }));
  const healthy = judged.filter(({ verdict }) => verdict.is === 'healthy').length;
  draft.status.expectedMachines = targets.length;
  draft.status.targets = targets.map(({ machine }) => machine.metadata.name).sort();
  draft.status.currentHealthy = healthy;
  const { isAllowed, left, message } = allowance(draft, targets.length, healthy);
  draft.status.remediationsAllowed = isAllowed ? Math.max(0, left) : 0;
  const type = 'RemediationAllowed';
  setCondition(
    draft,
    isAllowed
      ? { type, status: 'True', reason: 'RemediationAllowed' }
      : { type, status: 'False', reason: 'TooManyUnhealthy', message },
    core.clock,
  );
  for (const { target, verdict } of judged) {
    if (verdict.is !== 'open') await mark(core, draft, target, verdict, isAllowed, signal);
  }
  const next = judged.map(({ verdict }) => (verdict.is === 'open' ? verdict.againMs : undefined));
  const times = next.filter((ms) => ms !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
}

async function mark(
  core: Core,
  check: KubeObject,
  { machine, cluster }: Target,
  verdict: Exclude<Verdict, { is: 'open' }>,
  isAllowed: boolean,
  signal: AbortSignal,
): Promise<void> {
  const helper = new PatchHelper(core.store, machines, machine);
  const copy = helper.draft();
  const set = (condition: ConditionInput | undefined) => condition && setCondition(copy, condition, core.clock);
  const template = check.spec.remediation?.templateRef;
  const type = 'HealthCheckSucceeded';
  if (verdict.is === 'healthy') {
    set({ type, status: 'True', reason: 'HealthCheckSucceeded' });
    // Whatever its conditions say: a crash may have come between the request and saying so.
    if (template) await withdrawRemediation(core, template, machine, signal);
  } else {
    set({ type, status: 'False', reason: verdict.reason, message: verdict.message });
    if (isAllowed && !isPaused(machine, cluster)) {
      if (template) set(await requestRemediation(core, template, machine, signal));
      else if (!isDeleting(machine) && !hasCondition(machine, 'OwnerRemediated', 'False')) {
        const message = 'Waiting for remediation';
        set({ type: 'OwnerRemediated', status: 'False', reason: 'WaitingForRemediation', message });
      }
    }
  }
  await helper.patch(copy, signal);
}

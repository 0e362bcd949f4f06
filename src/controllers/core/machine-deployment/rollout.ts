/** Brings the MachineSets of a MachineDeployment one step nearer to what it wants, and clears away what is done with. */
import type { KubeObject } from '../../../api/object.ts';
import { machineSets } from '../../../api/resources.ts';
import { ignoreNotFound, isConflict, isDeleting, isNotFound, keyOf, TerminalError } from '../../../kube/index.ts';
import { ANNOTATION, MANAGER } from '../names.ts';
import { newMachineSet, updatedMachineSet } from './desired-machine-set.ts';
import { setCounters } from './machine-deployment-conditions.ts';
import type { DeploymentScope } from './machine-deployment-scope.ts';
import { planRollout, planScale, specOf, splitSets, wantedReplicas } from './rollout-plan.ts';

export async function rollOut(scope: DeploymentScope): Promise<void> {
  const { core, draft, sets = [] } = scope;
  const { current, old } = splitSets(draft, sets, core.clock.now());
  if (draft.spec.paused) {
    const plan = planScale(draft, { current, old });
    await store(scope, [...old, ...(current ? [current] : [])], current, old, plan);
    return;
  }
  if (!current && scope.missing.length > 0) {
    throw new TerminalError(`no MachineSet can be made: ${scope.missing.join(' and ')} does not exist`);
  }
  const newest = current ?? newMachineSet(draft, old, core.random);
  const plan = planRollout(draft, newest, old);
  const stored = await store(scope, [newest, ...old], newest, old, plan);
  scope.sets = stored;
  const [updated] = stored;
  const revision = updated?.metadata.annotations?.[ANNOTATION.revision];
  if (revision) draft.metadata.annotations = { ...draft.metadata.annotations, [ANNOTATION.revision]: revision };
  setCounters(draft, stored);
  if (isComplete(draft)) await removeEmpty(scope, stored.slice(1));
}

/** In the order given; a set that is gone meanwhile is left out. */
async function store(
  { applied, draft, signal }: DeploymentScope,
  sets: KubeObject[],
  current: KubeObject | undefined,
  old: KubeObject[],
  plan: Map<string, number>,
): Promise<KubeObject[]> {
  const stored: KubeObject[] = [];
  for (const set of sets) {
    const isNew = set.metadata.uid === undefined;
    const intent = isNew ? set : updatedMachineSet(draft, set, old, set === current);
    intent.spec.replicas = plan.get(set.metadata.name ?? '') ?? specOf(set);
    try {
      const options = { current: isNew ? undefined : set, signal };
      stored.push(await applied.apply(machineSets, intent, MANAGER.machineDeployment, options));
    } catch (error) {
      if (!isDeleting(set) || !(isConflict(error) || isNotFound(error))) throw error;
    }
  }
  return stored;
}

function isComplete(draft: KubeObject): boolean {
  const wanted = wantedReplicas(draft);
  const { replicas, upToDateReplicas, availableReplicas } = draft.status;
  return [replicas, upToDateReplicas, availableReplicas].every((count) => (count ?? 0) === wanted);
}

/** Nothing is kept to go back to: a rollout back is a rollout. */
async function removeEmpty({ core, signal }: DeploymentScope, old: KubeObject[]): Promise<void> {
  for (const set of old) {
    const isSeen = (set.status?.observedGeneration ?? 0) >= (set.metadata.generation ?? 0);
    if (isDeleting(set) || specOf(set) !== 0 || set.status?.replicas !== 0 || !isSeen) continue;
    await core.store.delete(machineSets, keyOf(set), { signal }).catch(ignoreNotFound);
  }
}

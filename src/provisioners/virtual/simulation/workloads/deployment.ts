/** Deployments: ReplicaSets as revisions, rolled forward, scaled, paused, cleaned up. */
import type { KubeObject } from '../../../../api/object.ts';
import { type Controller, itself } from '../controller.ts';
import { isDeleting, PODS } from '../pod.ts';
import type { World } from '../world.ts';
import { claim, claimants, selectorOf } from './claim.ts';
import { COMPONENT, DEPLOYMENTS, REPLICA_SETS, REVISION } from './deployment-names.ts';
import { deploymentStatus, isComplete } from './deployment-status.ts';
import { byCreation, findNew, revisionOf } from './revisions.ts';
import { isScaling, type Rollout, roll, scale } from './rollout.ts';
import { replicasOf } from './rollout-numbers.ts';

export const deployments: Controller = {
  name: COMPONENT,
  on: {
    [DEPLOYMENTS]: itself,
    [REPLICA_SETS]: claimants(DEPLOYMENTS, 'Deployment'),
    // Recreate waits for the last old pod to be gone.
    [PODS]: function* ({ current, previous }, world) {
      if (current || !previous) return;
      const owner = previous.object().metadata.ownerReferences?.find((r) => r.controller);
      if (owner?.kind !== 'ReplicaSet') return;
      const set = world.cache.get(REPLICA_SETS, previous.key.namespace, owner.name);
      const deployment = set?.metadata.ownerReferences?.find((r) => r.controller);
      if (deployment?.kind === 'Deployment') yield `${previous.key.namespace}/${deployment.name}`;
    },
  },
  async reconcile(world, namespace, name, again) {
    const deployment = world.cache.get(DEPLOYMENTS, namespace, name);
    const selector = deployment && selectorOf(deployment);
    if (!deployment || !selector || selector.length === 0) return;
    const sets = await claim(world, REPLICA_SETS, deployment, selector, world.cache.list(REPLICA_SETS, namespace));
    const before = findNew(deployment, sets);
    if (!isDeleting(deployment)) {
      const rollout = { world, deployment, sets };
      if (deployment.spec.paused || isScaling(rollout)) await scale(rollout);
      else await roll(rollout);
    }
    await report(world, namespace, name, before, again);
  },
};

async function report(
  world: World,
  namespace: string,
  name: string,
  before: KubeObject | undefined,
  again: (ms: number) => void,
) {
  let deployment = world.cache.get(DEPLOYMENTS, namespace, name);
  if (!deployment) return;
  const { uid } = deployment.metadata;
  const sets = world.cache
    .list(REPLICA_SETS, namespace)
    .filter(({ metadata }) => metadata.ownerReferences?.some((r) => r.controller && r.uid === uid));
  const fresh = findNew(deployment, sets);
  if (fresh && !isDeleting(deployment)) {
    deployment = await world.update(DEPLOYMENTS, deployment, ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [REVISION]: String(revisionOf(fresh)) };
    });
  }
  const { status, waitMs } = deploymentStatus({ world, deployment, sets, fresh, made: !before && fresh !== undefined });
  if (!isDeleting(deployment) && isComplete(deployment, sets, fresh)) await tidy({ world, deployment, sets }, fresh);
  await world.updateStatus(DEPLOYMENTS, deployment, status);
  if (waitMs !== undefined) again(waitMs + 1000);
}

/** Old revisions beyond the limit go, oldest first. */
async function tidy({ world, deployment, sets }: Rollout, fresh: KubeObject | undefined): Promise<void> {
  const limit = deployment.spec.revisionHistoryLimit ?? 10;
  if (limit === 2147483647) return;
  const old = sets
    .filter((set) => set !== fresh && !isDeleting(set))
    .sort((a, b) => Number(revisionOf(a) - revisionOf(b)) || byCreation(a, b));
  for (const set of old.slice(0, Math.max(0, old.length - limit))) {
    const { status, metadata } = set;
    if (status?.replicas || replicasOf(set) || (metadata.generation ?? 0) > (status?.observedGeneration ?? 0)) continue;
    await world.remove(REPLICA_SETS, set);
  }
}

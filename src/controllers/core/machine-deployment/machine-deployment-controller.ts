/** `MachineDeployment`: keeps a number of equal Machines and rolls changes out to them, MachineSet by MachineSet. */
import type { KubeObject } from '../../../api/object.ts';
import { clusters, machineDeployments, machineSets, machines } from '../../../api/resources.ts';
import {
  type ControllerOptions,
  exceptStatus,
  ignoreNotFound,
  isDeleting,
  keyOf,
  ownerReference,
  requeueAfter,
  withOwner,
} from '../../../kube/index.ts';
import { Applied } from '../applied.ts';
import { begin } from '../begin.ts';
import { ofCluster } from '../caches.ts';
import { type Core, clusterOf, runPhases } from '../core.ts';
import { FINALIZER, LABEL } from '../names.ts';
import { nextJudgement } from '../pool-conditions.ts';
import type { Reference } from '../provider-kinds.ts';
import { ownedTemplate } from '../templates.ts';
import { setDeploymentStatus } from './machine-deployment-conditions.ts';
import type { DeploymentScope } from './machine-deployment-scope.ts';
import { findMachineSets } from './machine-sets-of-deployment.ts';
import { rollOut } from './rollout.ts';
import { nextRollout } from './rollout-plan.ts';

export function machineDeploymentController(core: Core): ControllerOptions {
  const { store, caches } = core;
  const applied = new Applied(store);
  return {
    name: 'machine-deployment',
    resource: machineDeployments,
    filter: exceptStatus,
    owns: [machineSets],
    watches: [
      {
        resource: machines,
        map: ({ metadata }) => {
          const name = metadata.labels?.[LABEL.deploymentName];
          return name ? [{ namespace: metadata.namespace, name }] : [];
        },
      },
      {
        resource: clusters,
        filter: exceptStatus,
        map: (cluster) => ofCluster(caches.machineDeployments, cluster).map(keyOf),
      },
    ],
    async reconcile(key, { signal, clock }) {
      const found = await store.get(machineDeployments, key, { signal }).catch(ignoreNotFound);
      if (!found) return;
      const cluster = await clusterOf(core, found, signal);
      if (!cluster && !isDeleting(found)) return;
      const begun = await begin({
        store,
        resource: machineDeployments,
        found,
        cluster,
        finalizer: FINALIZER.machineDeployment,
        clock,
        signal,
      });
      if (!begun) return;
      const { object: deployment, helper, draft } = begun;
      const scope: DeploymentScope = {
        ...{ core, applied, deployment, draft, signal },
        cluster: cluster as KubeObject,
        machines: caches.machines.byIndex('deployment', `${key.namespace}/${key.name}`),
        missing: [],
      };
      const failure = await runPhases(
        isDeleting(deployment)
          ? [() => findMachineSets(scope), () => deleteSets(scope)]
          : [() => setOwnerAndLabels(scope), () => ownTemplates(scope), () => findThenRollOut(scope)],
      );
      setDeploymentStatus(scope);
      if (!failure) draft.status.observedGeneration = deployment.metadata.generation;
      await helper.patch(draft, signal);
      if (failure) throw failure;
      const times = [nextRollout(draft, clock.now()), nextJudgement(scope.machines, clock)];
      const again = Math.min(...times.filter((ms) => ms !== undefined));
      return Number.isFinite(again) && !isDeleting(draft) ? requeueAfter(again) : undefined;
    },
  };
}

async function findThenRollOut(scope: DeploymentScope): Promise<void> {
  await findMachineSets(scope);
  await rollOut(scope);
}

/** Also what upstream's webhooks do, for API servers that have none of ours. */
function setOwnerAndLabels({ draft, cluster }: DeploymentScope): void {
  const label = { [LABEL.clusterName]: draft.spec.clusterName };
  draft.metadata.labels = { ...draft.metadata.labels, ...label };
  const { selector, template } = draft.spec;
  draft.spec.selector = { ...selector, matchLabels: { ...selector?.matchLabels, ...label } };
  const labels = { ...template.metadata?.labels, ...label };
  draft.spec.template = { ...template, metadata: { ...template.metadata, labels } };
  draft.metadata.ownerReferences = withOwner(draft, ownerReference(cluster)).metadata.ownerReferences;
}

async function ownTemplates(scope: DeploymentScope): Promise<void> {
  const { core, draft, cluster, signal } = scope;
  const { infrastructureRef, bootstrap } = draft.spec.template.spec;
  for (const reference of [infrastructureRef, bootstrap?.configRef] as (Reference | undefined)[]) {
    if (!reference) continue;
    if (!(await ownedTemplate(core, reference, cluster, signal))) scope.missing.push(reference.kind);
  }
}

async function deleteSets({ core, draft, sets, signal }: DeploymentScope): Promise<void> {
  if (!sets) return;
  for (const set of sets) {
    if (!isDeleting(set)) await core.store.delete(machineSets, keyOf(set), { signal }).catch(ignoreNotFound);
  }
  if (sets.length > 0) return;
  draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== FINALIZER.machineDeployment);
}

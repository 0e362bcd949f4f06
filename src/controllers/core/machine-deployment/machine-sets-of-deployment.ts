/** The MachineSets of a MachineDeployment: those it made, and those without a master that it takes in. */
import { matchesLabels, selectorFromObject } from '../../../api/label-selector.ts';
import { machineSets } from '../../../api/resources.ts';
import { controllerOf, isDeleting, keyOf, ownerReference, TerminalError, withOwner } from '../../../kube/index.ts';
import { listOfCluster } from '../caches.ts';
import { LABEL } from '../names.ts';
import type { DeploymentScope } from './machine-deployment-scope.ts';

export async function findMachineSets(scope: DeploymentScope): Promise<void> {
  const { core, deployment, draft, signal } = scope;
  const selector = selectorFromObject(draft.spec.selector) ?? [];
  if (selector.length === 0) throw new TerminalError('spec.selector is empty: it would select every MachineSet');
  const cluster = { metadata: { ...deployment.metadata, name: deployment.spec.clusterName } };
  const sets = [];
  for (const set of await listOfCluster(core.store, machineSets, cluster, signal)) {
    const owner = controllerOf(set);
    if (owner) {
      if (owner.uid === deployment.metadata.uid) sets.push(set);
      continue;
    }
    if (isDeleting(set) || isDeleting(deployment) || !matchesLabels(selector, set.metadata.labels)) continue;
    const { uid, resourceVersion } = set.metadata;
    const { ownerReferences } = withOwner(
      set,
      ownerReference(deployment, { controller: true, blockOwnerDeletion: true }),
    ).metadata;
    const labels = { [LABEL.deploymentName]: deployment.metadata.name };
    const body = { metadata: { uid, resourceVersion, ownerReferences, labels } };
    sets.push(await core.store.patch(machineSets, keyOf(set), { type: 'merge', body }, { signal }));
  }
  scope.sets = sets;
}

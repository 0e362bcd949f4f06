/** The machines of a MachineSet: those it made, and those without a master that it takes in. */
import { formatLabelSelector, selectorFromObject } from '../../../api/label-selector.ts';
import { machines } from '../../../api/resources.ts';
import { controllerOf, isDeleting, keyOf, ownerReference, TerminalError, withOwner } from '../../../kube/index.ts';
import type { MachineSetScope } from './machine-set-scope.ts';

/** Straight from the server: a cache a moment behind would make us create too many. */
export async function findMachines(scope: MachineSetScope): Promise<void> {
  const { core, set, draft, signal } = scope;
  const selector = selectorFromObject(draft.spec.selector) ?? [];
  if (selector.length === 0) throw new TerminalError('spec.selector is empty: it would select every machine');
  const labelSelector = formatLabelSelector(selector);
  const { items } = await core.store.list(machines, { namespace: set.metadata.namespace, labelSelector, signal });
  const found = [];
  for (const machine of items) {
    const owner = controllerOf(machine);
    if (owner) {
      if (owner.uid === set.metadata.uid) found.push(machine);
      continue;
    }
    if (isDeleting(machine) || isDeleting(set)) continue;
    const { ownerReferences } = withOwner(
      machine,
      ownerReference(set, { controller: true, blockOwnerDeletion: true }),
    ).metadata;
    const { uid, resourceVersion } = machine.metadata;
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    found.push(await core.store.patch(machines, keyOf(machine), { type: 'merge', body }, { signal }));
  }
  scope.machines = found;
}

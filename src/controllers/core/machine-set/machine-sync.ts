/** What reaches machines that exist already: labels, annotations, timeouts, gates and taints of their template. */
import type { KubeObject } from '../../../api/object.ts';
import { machines } from '../../../api/resources.ts';
import { apiVersionOf, createMergePatch, isDeleting, keyOf } from '../../../kube/index.ts';
import { withInPlaceFields } from '../machine-template.ts';
import { MANAGER } from '../names.ts';
import type { Reference } from '../provider-kinds.ts';
import { updatedMachine } from './desired-machine.ts';
import { type MachineSetScope, machineAnnotations, machineLabels } from './machine-set-scope.ts';

export async function syncMachines(scope: MachineSetScope): Promise<void> {
  const { core, applied, draft, machines: found = [], signal } = scope;
  for (const [index, machine] of found.entries()) {
    if (isDeleting(machine)) {
      await syncDeleting(scope, machine);
      continue;
    }
    const intent = updatedMachine(draft, machine);
    found[index] = await applied.apply(machines, intent, MANAGER.machineSet, { current: machine, signal });
    for (const reference of [machine.spec.infrastructureRef, machine.spec.bootstrap?.configRef] as (
      | Reference
      | undefined
    )[]) {
      const object = reference && (await core.externals.cached(reference, machine.metadata.namespace, signal));
      if (object) await syncMetadata(scope, object);
    }
  }
}

/** A machine on its way out still learns of a new drain timeout: it may be what it waits for. */
async function syncDeleting({ core, draft, signal }: MachineSetScope, machine: KubeObject): Promise<void> {
  const wanted = withInPlaceFields(machine.spec, draft.spec.template.spec);
  const { nodeDeletionTimeoutSeconds } = machine.spec.deletion ?? {};
  // A default that the template does not mention is no difference.
  if (nodeDeletionTimeoutSeconds !== undefined) {
    wanted.deletion = { nodeDeletionTimeoutSeconds, ...wanted.deletion };
  }
  const spec = createMergePatch(machine.spec, wanted);
  if (!spec) return;
  const body = { spec, metadata: { uid: machine.metadata.uid } };
  await core.store.patch(machines, keyOf(machine), { type: 'merge', body }, { signal });
}

async function syncMetadata({ core, applied, draft, signal }: MachineSetScope, object: KubeObject): Promise<void> {
  if (isDeleting(object)) return;
  const resource = core.externals.resourceOf(object);
  const intent: KubeObject = {
    apiVersion: apiVersionOf(resource),
    kind: object.kind,
    metadata: { ...keyOf(object), labels: machineLabels(draft), annotations: machineAnnotations(draft) },
  };
  await applied.apply(resource, intent, MANAGER.machineSetMetadata, { current: object, signal });
}

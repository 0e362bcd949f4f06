/** As many machines as wanted: created with their bootstrap and infrastructure objects, or deleted in order. */

import { formatLabelSelector, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import { machines } from '../../../api/resources.ts';
import { ignoreNotFound, isDeleting, isOwnedBy, keyOf, TerminalError } from '../../../kube/index.ts';
import { ANNOTATION, MANAGER } from '../names.ts';
import type { Reference } from '../provider-kinds.ts';
import { cloneTemplate } from '../templates.ts';
import { inDeletionOrder } from './deletion-order.ts';
import { newMachine, newMachineName } from './desired-machine.ts';
import { type MachineSetScope, machineAnnotations, machineLabels, wantedReplicas } from './machine-set-scope.ts';
import { preflightProblems } from './preflight.ts';

export async function syncReplicas(scope: MachineSetScope): Promise<void> {
  const { draft, machines: found } = scope;
  if (!found) return;
  const lacking = wantedReplicas(draft) - found.length;
  if (lacking > 0) {
    await removeOrphans(scope, found);
    if (draft.metadata.annotations?.[ANNOTATION.disableMachineCreate] === 'true') return;
    scope.preflight = await preflightProblems(scope);
    if (scope.preflight.length > 0) return;
    for (let made = 0; made < lacking; made++) found.push(await createMachine(scope));
  } else if (lacking < 0) {
    const { core, signal } = scope;
    for (const machine of inDeletionOrder(found, draft.spec.deletion?.order, core.clock).slice(0, -lacking)) {
      if (!isDeleting(machine)) await core.store.delete(machines, keyOf(machine), { signal }).catch(ignoreNotFound);
    }
  }
}

async function createMachine(scope: MachineSetScope): Promise<KubeObject> {
  const { core, applied, draft, signal } = scope;
  const name = newMachineName(draft, core.random);
  const { infrastructureRef, bootstrap } = draft.spec.template.spec;
  const made: KubeObject[] = [];
  try {
    const config = bootstrap?.configRef && (await clone(scope, bootstrap.configRef, name));
    if (config) made.push(config);
    const infrastructure = await clone(scope, infrastructureRef, name);
    made.push(infrastructure);
    const parts = {
      infrastructureRef: referenceTo(infrastructure, infrastructureRef),
      ...(config ? { configRef: referenceTo(config, bootstrap.configRef) } : {}),
    };
    return await applied.apply(machines, newMachine(draft, name, parts), MANAGER.machineSet, { signal });
  } catch (error) {
    // What cannot be deleted now is found as an orphan next time.
    for (const object of made) await core.externals.delete(object, signal).catch(() => {});
    throw error;
  }
}

async function clone(scope: MachineSetScope, reference: Reference, name: string): Promise<KubeObject> {
  const { core, draft, set, signal } = scope;
  const template = await core.externals.get(reference, set.metadata.namespace, signal);
  if (!template) throw new TerminalError(`${reference.kind} ${reference.name} does not exist`);
  const options = {
    ...{ template, reference, name, owner: set },
    clusterName: draft.spec.clusterName,
    labels: machineLabels(draft),
    annotations: machineAnnotations(draft),
  };
  return cloneTemplate(core, options, signal);
}

function referenceTo(object: KubeObject, { apiGroup }: Reference): Reference {
  return { apiGroup, kind: object.kind, name: object.metadata.name as string };
}

/** Objects that a crash left without a machine. */
async function removeOrphans(scope: MachineSetScope, found: KubeObject[]): Promise<void> {
  const { core, draft, set, signal } = scope;
  const used = new Set(
    found.flatMap(({ spec }) => [spec.infrastructureRef?.name, spec.bootstrap?.configRef?.name]).filter(Boolean),
  );
  const { infrastructureRef, bootstrap } = draft.spec.template.spec;
  const labelSelector = formatLabelSelector(selectorFromObject(draft.spec.selector) ?? []);
  for (const reference of [infrastructureRef, bootstrap?.configRef] as (Reference | undefined)[]) {
    if (!reference) continue;
    const kind = reference.kind.replace(/Template$/, '');
    const resource = core.externals.kinds.resource({ apiGroup: reference.apiGroup, kind });
    const { namespace } = set.metadata;
    for (const object of (await core.store.list(resource, { namespace, labelSelector, signal })).items) {
      const isOrphan = isOwnedBy(object, set) && !used.has(object.metadata.name ?? '') && !isDeleting(object);
      if (isOrphan) await core.externals.delete(object, signal);
    }
  }
}

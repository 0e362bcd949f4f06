/** The bootstrap and infrastructure objects of a Machine: owned by it, and what they report copied into it. */
import type { KubeObject } from '../../../api/object.ts';
import { clusters } from '../../../api/resources.ts';
import { isDeleting, TerminalError, withController } from '../../../kube/index.ts';
import { isControlPlaneMachine } from '../core.ts';
import { type Found, groupOf } from '../externals.ts';
import { ANNOTATION, LABEL } from '../names.ts';
import type { Reference } from '../provider-kinds.ts';
import type { MachineScope } from './machine-scope.ts';

export async function reconcileBootstrap(scope: MachineScope): Promise<void> {
  const { machine, draft } = scope;
  const reference: Reference | undefined = machine.spec?.bootstrap?.configRef;
  if (!reference) return;
  const config = await adopted(scope, reference, scope.bootstrap);
  if (!config) return;
  if (machine.spec.bootstrap.dataSecretName) {
    initializationOf(draft).bootstrapDataSecretCreated = true;
    return;
  }
  if (isDeleting(config) || !config.status?.initialization?.dataSecretCreated) return;
  const name = config.status.dataSecretName;
  if (!name) throw new TerminalError(`${reference.kind} ${reference.name} has no status.dataSecretName`);
  draft.spec.bootstrap = { ...draft.spec.bootstrap, dataSecretName: name };
  initializationOf(draft).bootstrapDataSecretCreated = true;
}

export async function reconcileInfrastructure(scope: MachineScope): Promise<void> {
  const { machine, draft } = scope;
  const reference: Reference = machine.spec?.infrastructureRef;
  const initialization = initializationOf(draft);
  const object = await adopted(scope, reference, scope.infrastructure);
  if (!object) {
    if (isDeleting(machine) || !initialization.infrastructureProvisioned) return;
    throw new TerminalError(`${reference.kind} ${reference.name} has been deleted after it was provisioned`);
  }
  if (isDeleting(object)) return;
  if (!object.status?.initialization?.provisioned && !initialization.infrastructureProvisioned) return;
  const providerId = object.spec?.providerID;
  // Without it the machine cannot be told from others: it is not provisioned yet.
  if (!providerId) return;
  if (object.status?.addresses) draft.status.addresses = object.status.addresses;
  if (object.status?.failureDomain) draft.status.failureDomain = object.status.failureDomain;
  draft.spec.providerID = providerId;
  initialization.infrastructureProvisioned = true;
}

/** When the certificates of a control plane machine run out, as the machine or its bootstrap object says. */
export function reconcileCertificateExpiry({ machine, draft, bootstrap }: MachineScope): void {
  if (!isControlPlaneMachine(machine)) return;
  const said =
    machine.metadata.annotations?.[ANNOTATION.certificatesExpiry] ??
    bootstrap.object?.metadata.annotations?.[ANNOTATION.certificatesExpiry];
  if (said === undefined) {
    delete draft.status.certificatesExpiryDate;
    return;
  }
  const time = Date.parse(said);
  if (Number.isNaN(time)) throw new TerminalError(`${ANNOTATION.certificatesExpiry}: ${said} is no time`);
  draft.status.certificatesExpiryDate = `${new Date(time).toISOString().slice(0, 19)}Z`;
}

function initializationOf(draft: KubeObject): Record<string, boolean> {
  draft.status.initialization ??= {};
  return draft.status.initialization;
}

/** The object, with the machine as its controller from now on. */
async function adopted(scope: MachineScope, reference: Reference, found: Found): Promise<KubeObject | undefined> {
  const { core, machine, signal } = scope;
  // Where the kind is gone, so are its objects: a delete has to end all the same.
  if (isDeleting(machine) && !core.externals.kinds.labels(reference)) {
    found.missing = true;
    return undefined;
  }
  const object = await core.externals.get(reference, machine.metadata.namespace, signal);
  found.missing = object === undefined;
  found.object = object;
  if (!object || isDeleting(object)) return object;
  found.object = await core.externals.patch(
    object,
    (draft) => {
      const owners = (draft.metadata.ownerReferences ?? []).filter((owner) => !isMaker(scope, owner));
      draft.metadata.ownerReferences = withController(
        { ...draft, metadata: { ...draft.metadata, ownerReferences: owners } },
        machine,
      ).metadata.ownerReferences;
      draft.metadata.labels = { ...draft.metadata.labels, [LABEL.clusterName]: machine.spec.clusterName };
    },
    signal,
  );
  return found.object;
}

/** Whoever made the object owned it until its machine was there. */
function isMaker({ machine, cluster }: MachineScope, owner: { apiVersion: string; kind: string }): boolean {
  const group = groupOf(owner.apiVersion);
  if (group === clusters.group && owner.kind === 'MachineSet') return true;
  const controlPlane: Reference | undefined = cluster?.spec?.controlPlaneRef;
  return isControlPlaneMachine(machine) && group === controlPlane?.apiGroup && owner.kind === controlPlane.kind;
}

/** The objects a Cluster refers to: owned by it, and what they report copied into it. */
import type { KubeObject } from '../../../api/object.ts';
import { isDeleting, ownerReference, TerminalError, withOwner } from '../../../kube/index.ts';
import type { Found } from '../externals.ts';
import { LABEL } from '../names.ts';
import type { Reference } from '../provider-kinds.ts';
import { type ClusterScope, hasEndpoint } from './cluster-scope.ts';

interface FailureDomain {
  name: string;
  controlPlane?: boolean;
}

export async function reconcileInfrastructure(scope: ClusterScope): Promise<void> {
  const { draft, cluster } = scope;
  const reference: Reference | undefined = cluster.spec?.infrastructureRef;
  const initialization = initializationOf(draft);
  if (!reference) {
    if (!isDeleting(cluster)) initialization.infrastructureProvisioned = true;
    return;
  }
  const object = await adopted(scope, reference, scope.infrastructure);
  if (!object) {
    if (isDeleting(cluster) || !initialization.infrastructureProvisioned) return;
    throw new TerminalError(`${reference.kind} ${reference.name} has been deleted after it was provisioned`);
  }
  if (isDeleting(object)) return;
  // What has been reached once never goes back.
  if (!object.status?.initialization?.provisioned && !initialization.infrastructureProvisioned) return;
  takeEndpoint(draft, object);
  const domains: FailureDomain[] = object.status?.failureDomains ?? [];
  if (domains.length > 0) {
    draft.status.failureDomains = domains.map((domain) => ({ ...domain, controlPlane: domain.controlPlane ?? false }));
  } else delete draft.status.failureDomains;
  initialization.infrastructureProvisioned = true;
}

export async function reconcileControlPlane(scope: ClusterScope): Promise<void> {
  const { draft, cluster } = scope;
  const reference: Reference | undefined = cluster.spec?.controlPlaneRef;
  if (!reference) return;
  const initialization = initializationOf(draft);
  const object = await adopted(scope, reference, scope.controlPlane);
  if (!object) {
    if (isDeleting(cluster) || !initialization.controlPlaneInitialized) return;
    throw new TerminalError(`${reference.kind} ${reference.name} has been deleted after it was initialized`);
  }
  if (isDeleting(object)) return;
  if (!object.status?.initialization?.controlPlaneInitialized && !initialization.controlPlaneInitialized) return;
  takeEndpoint(draft, object);
  initialization.controlPlaneInitialized = true;
}

function initializationOf(draft: KubeObject): Record<string, boolean> {
  draft.status.initialization ??= {};
  return draft.status.initialization;
}

/** Copied once: a cluster's address never moves under its users. */
function takeEndpoint(draft: KubeObject, from: KubeObject): void {
  const { host, port } = from.spec?.controlPlaneEndpoint ?? {};
  if (hasEndpoint(draft) || !host || !port) return;
  draft.spec = { ...draft.spec, controlPlaneEndpoint: { host, port } };
}

/** The object, owned by the cluster from now on. */
async function adopted(scope: ClusterScope, reference: Reference, found: Found): Promise<KubeObject | undefined> {
  const { core, cluster, signal } = scope;
  // Where the kind is gone, so are its objects: a delete has to end all the same.
  if (isDeleting(cluster) && !core.externals.kinds.labels(reference)) {
    found.missing = true;
    return undefined;
  }
  const object = await core.externals.get(reference, cluster.metadata.namespace, signal);
  found.missing = object === undefined;
  if (!object || isDeleting(object)) {
    found.object = object;
    return object;
  }
  found.object = await core.externals.patch(
    object,
    (draft) => {
      draft.metadata.ownerReferences = withOwner(draft, ownerReference(cluster)).metadata.ownerReferences;
      draft.metadata.labels = { ...draft.metadata.labels, [LABEL.clusterName]: cluster.metadata.name as string };
    },
    signal,
  );
  return found.object;
}

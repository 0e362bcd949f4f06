/** Templates of providers: kept with the Cluster that uses them, and made into objects. */
import type { KubeObject } from '../../api/object.ts';
import { apiVersionOf, isDeleting, ownerReference, withOwner } from '../../kube/index.ts';
import type { Core } from './core.ts';
import { ANNOTATION, LABEL, MANAGER } from './names.ts';
import type { Reference } from './provider-kinds.ts';

/** The template, owned by the Cluster so that it is moved and deleted with it; undefined when there is none. */
export async function ownedTemplate(
  core: Core,
  reference: Reference,
  cluster: KubeObject,
  signal?: AbortSignal,
): Promise<KubeObject | undefined> {
  const template = await core.externals.get(reference, cluster.metadata.namespace, signal);
  if (!template || isDeleting(template)) return template;
  return core.externals.patch(
    template,
    (draft) => {
      draft.metadata.ownerReferences = withOwner(draft, ownerReference(cluster)).metadata.ownerReferences;
    },
    signal,
  );
}

export interface CloneOptions {
  template: KubeObject;
  reference: Reference;
  name: string;
  /** Who owns it until its Machine does. */
  owner: KubeObject;
  clusterName: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/**
 * Makes an object from a template. In three applies, so that later the labels and annotations that follow the template
 * can be taken away by the one manager that owns them, without touching what was given at birth.
 */
export async function cloneTemplate(core: Core, options: CloneOptions, signal?: AbortSignal): Promise<KubeObject> {
  const { template, reference, owner, clusterName } = options;
  const kind = reference.kind.replace(/Template$/, '');
  const resource = core.externals.kinds.resource({ apiGroup: reference.apiGroup, kind });
  const { metadata, ...content } = structuredClone(template.spec?.template ?? {});
  const identity = { name: options.name, namespace: owner.metadata.namespace };
  const fixed = {
    [ANNOTATION.clonedFromName]: reference.name,
    [ANNOTATION.clonedFromGroupKind]: `${reference.kind}.${reference.apiGroup}`,
  };
  const labels = { ...metadata?.labels, ...options.labels, [LABEL.clusterName]: clusterName };
  const annotations = { ...metadata?.annotations, ...options.annotations };
  const { apiVersion, kind: ownerKind } = owner;
  const { name = '', uid = '' } = owner.metadata;
  const object = (extra: Record<string, unknown>): KubeObject => ({
    apiVersion: apiVersionOf(resource),
    kind,
    ...content,
    metadata: { ...identity, ownerReferences: [{ apiVersion, kind: ownerKind, name, uid }], ...extra },
  });
  const apply = (intent: KubeObject, fieldManager: string) =>
    core.store.apply(resource, intent, { fieldManager, force: true, signal });
  await apply(object({ labels, annotations: { ...annotations, ...fixed } }), MANAGER.machineSet);
  const shell = { apiVersion: apiVersionOf(resource), kind };
  const following = { ...identity, labels: options.labels, annotations: options.annotations };
  await apply({ ...shell, metadata: following }, MANAGER.machineSetMetadata);
  const born = without(labels, options.labels);
  const kept = { ...without(annotations, options.annotations), ...fixed };
  return apply(object({ labels: born, annotations: kept }), MANAGER.machineSet);
}

function without(texts: Record<string, string>, others: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !(key in others)));
}

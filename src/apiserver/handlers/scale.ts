/** `/scale`: any kind that counts replicas, seen as an autoscaling/v1 Scale. */
import { formatLabelSelector, type LabelSelectorObject, selectorFromObject } from '../../api/label-selector.ts';
import type { KubeObject } from '../../api/object.ts';
import { setAt, valueAt } from '../json.ts';
import type { Operations, WriteOptions } from '../operations.ts';
import type { Resource, ScalePaths } from '../resource.ts';
import { badRequest, field, invalid, unknownPath } from '../status.ts';

export async function readScale(
  operations: Operations,
  resource: Resource,
  namespace: string,
  name: string,
): Promise<KubeObject> {
  if (!resource.scale) throw unknownPath();
  return scaleOf(await operations.read(resource, namespace, name), resource.scale);
}

export async function writeScale(
  operations: Operations,
  resource: Resource,
  namespace: string,
  name: string,
  revise: (current: KubeObject) => KubeObject,
  options: WriteOptions,
): Promise<KubeObject> {
  const paths = resource.scale;
  if (!paths) throw unknownPath();
  const current = await readScale(operations, resource, namespace, name);
  const sent: KubeObject = { ...revise(current), apiVersion: current.apiVersion, kind: current.kind };
  if (sent.metadata?.name && sent.metadata.name !== name) {
    throw badRequest(`the name of the object (${sent.metadata.name}) does not match the name on the URL (${name})`);
  }
  const operand = { operation: 'UPDATE' as const, resource, subresource: 'scale', namespace, name };
  const wanted = await operations.admit({ ...operand, object: sent, old: current }, options);
  const replicas = wanted.spec?.replicas ?? 0;
  if (!Number.isInteger(replicas) || replicas < 0) {
    const detail = 'must be greater than or equal to 0';
    throw invalid('autoscaling', 'Scale', name, [field.invalid('spec.replicas', replicas, detail)]);
  }
  // The version the client read stays a precondition; the one just read here is none.
  const version = wanted.metadata?.resourceVersion;
  const body: Record<string, unknown> = {};
  setAt(body, paths.specReplicas, replicas);
  if (version && version !== current.metadata.resourceVersion) setAt(body, 'metadata.resourceVersion', version);
  const inner = { ...options, isInner: true };
  const written = await operations.patch(resource, namespace, name, { type: 'merge', body }, inner);
  return scaleOf(written.object, paths);
}

function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.selector ? selectorText(valueAt(object, paths.selector)) : undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: (valueAt(object, paths.specReplicas) as number) ?? 0 },
    status: {
      replicas: (valueAt(object, paths.statusReplicas) as number) ?? 0,
      ...(selector ? { selector } : {}),
    },
  };
}

/** A selector is an object, a map of labels (ReplicationController) or already text (custom resources). */
function selectorText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const isSelector = 'matchLabels' in value || 'matchExpressions' in value;
  const object = isSelector ? value : { matchLabels: value as Record<string, string> };
  return formatLabelSelector(selectorFromObject(object as LabelSelectorObject) ?? []);
}

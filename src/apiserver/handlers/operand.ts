/**
 * Requests whose body is not the resource itself: a Scale, a Binding, an Eviction, the options of `exec`. Webhooks and
 * policies see them as they are; what they lead to (a changed Deployment, a deleted pod) is no request of its own.
 */
import type { KubeObject } from '../../api/object.ts';
import { type AdmissionAttributes, admit, admitMutation } from '../admission/admission.ts';
import type { ClusterContext } from '../cluster-context.ts';
import type { Operand, WriteOptions } from '../operations.ts';
import { attributesOf } from './draft.ts';

/** The operand as it was admitted: a webhook may have changed it. */
export async function admitOperand(
  context: ClusterContext,
  operand: Operand,
  options: WriteOptions,
): Promise<KubeObject> {
  const { resource, subresource, namespace, name, object, old } = operand;
  const draft = { resource, namespace, object, live: old, options: { ...options, subresource } };
  const attributes: AdmissionAttributes = { ...attributesOf(context, draft, operand.operation), name };
  const external = context.admission.filter((plugin) => plugin.external && plugin.handles(attributes));
  if (external.length === 0) return object;
  if (object.kind !== resource.kind) attributes.kind = kindOf(object);
  await admitMutation(attributes, external);
  await admit('validate', attributes, external);
  return attributes.object ?? object;
}

function kindOf({ apiVersion, kind }: KubeObject): AdmissionAttributes['kind'] {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version, kind };
}

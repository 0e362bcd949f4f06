/** The objects a binding gives its policy as `params`. */
import { matchesLabels, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Registry } from '../../kinds/registry.ts';
import { type AdmissionAttributes, listObjects } from '../admission.ts';
import type { ParamRef, PolicySpec } from './policy.ts';

/** One evaluation per entry; undefined stands for "without params". Throws an Error that says what is misconfigured. */
export function paramsOf(
  paramKind: PolicySpec['paramKind'],
  ref: ParamRef | undefined,
  { store, namespace }: AdmissionAttributes,
  registry: Registry,
): (KubeObject | undefined)[] {
  if (!paramKind || !ref) return [undefined];
  const { apiVersion = '', kind = '' } = paramKind;
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const resource = registry.byKind(group as string, version as string, kind);
  if (!resource) throw new Error(`paramKind kind \`${shown(apiVersion, kind)}\` not known`);
  if (!resource.namespaced && ref.namespace) {
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const where = resource.namespaced ? ref.namespace || namespace : '';
  if (resource.namespaced && !where) {
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  const form = (object: KubeObject): KubeObject => ({ ...object, apiVersion, kind });
  let found: KubeObject[];
  if (ref.name) {
    if (ref.selector) throw new Error('paramRef.name and paramRef.selector are mutually exclusive');
    const stored = store.get({ resource: resource.storage, namespace: where, name: ref.name });
    found = stored ? [stored.object()] : [];
  } else if (ref.selector) {
    const selector = selectorFromObject(ref.selector) ?? [];
    const all = listObjects(store, resource.storage, resource.namespaced ? where : undefined);
    found = all.filter((object) => matchesLabels(selector, object.metadata.labels));
  } else throw new Error('one of name or selector must be provided');
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found.map(form);
}

/** As Go prints the object it is part of. */
function shown(apiVersion: string, kind: string): string {
  return `&ParamKind{APIVersion:${apiVersion},Kind:${kind},}`;
}

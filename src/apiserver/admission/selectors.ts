/** The two selectors by which webhooks and policies narrow what they are about: the labels of the namespace, and of the object. */
import { type LabelSelector, matchesLabels } from '../../api/label-selector.ts';
import type { KubeObject } from '../../api/object.ts';
import { notFound } from '../status.ts';
import type { AdmissionAttributes } from './admission.ts';
import { namespaceOf } from './webhook/review.ts';

/** Throws where the namespace of the request is not there. */
export function inNamespaces(selector: LabelSelector, attributes: AdmissionAttributes): boolean {
  if (selector.length === 0) return true;
  const name = namespaceOf(attributes);
  // What lives in no namespace is never exempt.
  if (name === '' && attributes.resource.storage !== '/namespaces') return true;
  return matchesLabels(selector, namespaceLabels(attributes, name));
}

function namespaceLabels(attributes: AdmissionAttributes, name: string): Record<string, string> | undefined {
  const { resource, subresource, object, store } = attributes;
  // A namespace being written is judged by what it will be.
  if (resource.storage === '/namespaces' && subresource === '' && object) return object.metadata.labels;
  const found = store.get({ resource: '/namespaces', namespace: '', name });
  if (!found) throw notFound({ group: '', resource: 'namespaces', name });
  return found.object().metadata.labels;
}

/** Either the new object or the old one: taking the label away is a change to be seen, too. */
export function selectsObject(selector: LabelSelector, { object, old }: AdmissionAttributes): boolean {
  if (selector.length === 0) return true;
  const selects = (one: KubeObject | undefined) => one !== undefined && matchesLabels(selector, one.metadata?.labels);
  return selects(object) || selects(old);
}

/** The objects of a request in the versions webhooks ask for, each converted once. */
import type { KubeObject } from '../../../api/object.ts';
import { convertTo } from '../../handlers/conversion.ts';
import type { Resource } from '../../resource.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { Forms } from './match.ts';

type Part = 'object' | 'old';

/** Of the object as it is now: whoever changes it needs new forms. */
export function formsOf(attributes: AdmissionAttributes): Forms {
  const made = new Map<Resource, Partial<Record<Part, Promise<KubeObject>>>>();
  const form = async (resource: Resource, part: Part): Promise<KubeObject | undefined> => {
    const object = attributes[part];
    // A subresource's own kind (Scale, Binding) has one version, whatever that of the resource is.
    if (!object || resource === attributes.resource || attributes.kind) return object;
    let known = made.get(resource);
    if (!known) {
      known = {};
      made.set(resource, known);
    }
    known[part] ??= convertTo(resource, object);
    return known[part];
  };
  return { object: (resource) => form(resource, 'object'), old: (resource) => form(resource, 'old') };
}

/**
 * Upstream's webhooks for the embedded server, which calls no webhook of ours but this function: defaults and checks of
 * the kinds of Cluster API, for whoever writes them.
 */
import { clusters } from '../../../api/resources.ts';
import { type AdmissionAttributes, type AdmissionPlugin, invalid } from '../../../apiserver/index.ts';
import { DEFAULTERS } from './defaults.ts';
import { VALIDATORS } from './validation.ts';

export const clusterApiAdmission: AdmissionPlugin = {
  name: 'ClusterApi',
  handles: ({ operation, resource, subresource }) =>
    resource.group === clusters.group &&
    subresource === '' &&
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.plural in DEFAULTERS,
  mutate({ resource, object, old }) {
    if (hasSpec(object)) DEFAULTERS[resource.plural]?.(object, old);
  },
  validate(attributes) {
    const { resource, object, old, name } = attributes;
    if (!hasSpec(object)) return;
    const errors = VALIDATORS[resource.plural]?.(object, old) ?? [];
    if (errors.length > 0) throw invalid(resource.group, resource.kind, name, errors);
  },
};

/** What has none is refused by its schema. */
function hasSpec(object: AdmissionAttributes['object']): object is NonNullable<AdmissionAttributes['object']> {
  return typeof object?.spec === 'object' && object.spec !== null;
}

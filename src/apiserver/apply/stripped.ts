/** Fields nobody owns: the identity of the object and what the system writes. */
import { difference, type FieldSet, LEAF } from './field-set.ts';

const STRIPPED: FieldSet = {
  'f:apiVersion': LEAF,
  'f:kind': LEAF,
  'f:metadata': {
    '.': LEAF,
    'f:clusterName': LEAF,
    'f:creationTimestamp': LEAF,
    'f:generation': LEAF,
    'f:managedFields': LEAF,
    'f:name': LEAF,
    'f:namespace': LEAF,
    'f:resourceVersion': LEAF,
    'f:selfLink': LEAF,
    'f:uid': LEAF,
  },
};

export function strip(set: FieldSet): FieldSet {
  return difference(set, STRIPPED);
}

/**
 * Fields a request cannot change, so sending them must not make anyone their owner: status on the main resource, all
 * the rest on `/status` (the GetResetFields of upstream's strategies).
 */
import type { Resource } from '../resource.ts';
import { type FieldSet, setOf } from './field-set.ts';

const STATUS = setOf(['f:status']);
const SPEC = setOf(['f:spec']);
const SPEC_AND_METADATA = setOf(['f:spec'], ['f:metadata']);

/** What `/status` keeps besides spec, where that is not nothing. */
const ON_STATUS: Record<string, FieldSet> = {
  'apps/Deployment': setOf(['f:spec'], ['f:metadata', 'f:labels']),
  '/Pod': setOf(['f:spec'], ['f:metadata', 'f:deletionTimestamp'], ['f:metadata', 'f:ownerReferences']),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': SPEC_AND_METADATA,
  'apiextensions.k8s.io/CustomResourceDefinition': SPEC_AND_METADATA,
  'apiregistration.k8s.io/APIService': SPEC_AND_METADATA,
  'flowcontrol.apiserver.k8s.io/FlowSchema': SPEC_AND_METADATA,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': SPEC_AND_METADATA,
  'resource.k8s.io/ResourceClaim': SPEC_AND_METADATA,
  'storage.k8s.io/VolumeAttachment': SPEC_AND_METADATA,
  'certificates.k8s.io/CertificateSigningRequest': setOf(['f:spec'], ['f:status', 'f:conditions']),
};

/** For the `reset` of applyConfiguration and recordUpdate. */
export function resetFields(resource: Resource, subresource: string): FieldSet | undefined {
  if (subresource === 'status') return ON_STATUS[`${resource.group}/${resource.kind}`] ?? SPEC;
  if (subresource === '' && resource.subresources.some(({ name }) => name === 'status')) return STATUS;
  return undefined;
}

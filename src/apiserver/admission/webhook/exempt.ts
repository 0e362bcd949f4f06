/** What no webhook is asked about: a broken one could otherwise not be taken away again. */
import type { AdmissionAttributes } from '../admission.ts';

const KINDS = new Set([
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

export function isExempt({ resource }: AdmissionAttributes): boolean {
  return resource.group === 'admissionregistration.k8s.io' && KINDS.has(resource.kind);
}

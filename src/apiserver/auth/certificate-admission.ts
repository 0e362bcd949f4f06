/**
 * Who may approve and sign CertificateSigningRequests: besides the right to write the subresource, the verbs
 * `approve` and `sign` on the signer the request names. An admission plug-in, because it looks at the stored request.
 */
import { isDeepStrictEqual } from 'node:util';
import { type AdmissionAttributes, type AdmissionPlugin, refuse } from '../admission/admission.ts';
import type { Authorizer, Identity } from './identity.ts';

const GROUP = 'certificates.k8s.io';
const VERBS: Record<string, string> = { approval: 'approve', status: 'sign' };

export function certificateAdmission(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'CertificateApprovalAndSigning',
    handles: ({ operation, resource, subresource }) =>
      operation === 'UPDATE' &&
      resource.group === GROUP &&
      resource.plural === 'certificatesigningrequests' &&
      VERBS[subresource] !== undefined,
    validate(attributes) {
      const verb = VERBS[attributes.subresource] ?? '';
      // The stored name counts: the one in the request may be a lie.
      const signer: string = attributes.old?.spec?.signerName ?? '';
      if (verb === 'sign' && !signs(attributes)) return;
      if (!mayUse(authorizer, attributes.identity, verb, signer)) {
        throw refuse(attributes, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
      }
    },
  };
}

function signs({ object, old }: AdmissionAttributes): boolean {
  const before = old?.status ?? {};
  const after = object?.status ?? {};
  return before.certificate !== after.certificate || !isDeepStrictEqual(before.conditions, after.conditions);
}

/** By the signer's full name, or by `<domain>/*`. */
function mayUse(authorizer: Authorizer, identity: Identity, verb: string, signer: string): boolean {
  const names = [signer, `${signer.split('/')[0]}/*`];
  return names.some(
    (name) => authorizer.authorize(identity, { verb, group: GROUP, version: '*', resource: 'signers', name }).allowed,
  );
}

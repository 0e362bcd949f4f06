/** What each of Kubernetes' own signers accepts. Returns why a request is refused; nothing when it is fine. */

/** What a certificate request asks for, as far as the rules look at it. */
export interface RequestedCertificate {
  commonName: string;
  organizations: string[];
  dnsNames: string[];
  ipAddresses: string[];
  /** Mail addresses and URIs. */
  otherNames: string[];
}

type Rule = (request: RequestedCertificate, usages: string[]) => string | undefined;

export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';

export const SIGNERS: Record<string, Rule> = {
  'kubernetes.io/kube-apiserver-client': apiClient,
  [KUBELET_CLIENT]: kubeletClient,
  'kubernetes.io/kubelet-serving': kubeletServing,
};

function apiClient({ organizations }: RequestedCertificate, usages: string[]): string | undefined {
  const allowed = ['digital signature', 'key encipherment', 'client auth'];
  const strange = usages.find((usage) => !allowed.includes(usage));
  if (strange) return `invalid usage for client certificate: ${strange}`;
  if (!usages.includes('client auth')) return 'missing required usage for client certificate: client auth';
  // Upstream's admission refuses it when it is asked for (CertificateSubjectRestriction); here nothing is signed.
  if (organizations.includes('system:masters')) {
    return 'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed';
  }
  return undefined;
}

function kubeletClient(request: RequestedCertificate, usages: string[]): string | undefined {
  if (request.organizations.join() !== 'system:nodes') return 'subject organization is not system:nodes';
  if (request.dnsNames.length) return 'DNS subjectAltNames are not allowed';
  if (request.ipAddresses.length) return 'IP subjectAltNames are not allowed';
  if (request.otherNames.length) return 'Email and URI subjectAltNames are not allowed';
  if (!request.commonName.startsWith('system:node:')) return 'subject common name does not begin with system:node:';
  return exactly(usages, 'client auth');
}

function kubeletServing(request: RequestedCertificate, usages: string[]): string | undefined {
  if (request.organizations.join() !== 'system:nodes') return 'subject organization is not system:nodes';
  if (!request.dnsNames.length && !request.ipAddresses.length) return 'DNS or IP subjectAltName is required';
  if (request.otherNames.length) return 'Email and URI subjectAltNames are not allowed';
  const wrong = exactly(usages, 'server auth');
  if (wrong) return wrong;
  if (!request.commonName.startsWith('system:node:')) return 'subject common name does not begin with system:node:';
  return undefined;
}

/** Key encipherment is for RSA keys and may be left out. */
function exactly(usages: string[], auth: string): string | undefined {
  const given = [...new Set(usages)].filter((usage) => usage !== 'key encipherment').sort();
  if (given.join() === [auth, 'digital signature'].sort().join()) return undefined;
  return `usages did not match [${[auth, 'digital signature', 'key encipherment'].sort().join(' ')}]`;
}

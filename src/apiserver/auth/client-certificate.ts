/** Who a TLS client certificate names: CN is the user, each O a group; only if the cluster's own CA signed it. */
import { X509Certificate } from 'node:crypto';
import { type Subject, subjectOf } from '../../x509/subject.ts';
import type { Identity } from './identity.ts';

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

export interface CertifiedIdentity {
  identity: Identity;
  /** Milliseconds since the epoch. */
  expires: number;
}

/** Splits a PEM bundle. Parsed once per cluster, when the first certificate is shown. */
export function parseBundle(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Throws CertificateError. Signature, validity and purpose are checked here because TLS only asked for a certificate. */
export function certifiedIdentity(
  certificate: X509Certificate,
  roots: X509Certificate[],
  now: number,
): CertifiedIdentity {
  const issuer = roots.find((root) => certificate.checkIssued(root) && certificate.verify(root.publicKey));
  if (!issuer) throw new CertificateError('x509: certificate signed by unknown authority');
  for (const link of [certificate, issuer]) {
    if (now < Date.parse(link.validFrom) || now > Date.parse(link.validTo)) {
      throw new CertificateError('x509: certificate has expired or is not yet valid');
    }
  }
  // `keyUsage` holds the *extended* usages; without the extension any purpose is allowed (RFC 5280 4.2.1.12).
  const usages: string[] | undefined = certificate.keyUsage;
  if (usages?.length && !usages.includes(CLIENT_AUTH) && !usages.includes(ANY_USAGE)) {
    throw new CertificateError('x509: certificate specifies an incompatible key usage');
  }
  const { commonName: user, organizations } = nameOf(certificate);
  if (!user) throw new CertificateError('x509: certificate names no user: its subject has no common name');
  return {
    identity: {
      user,
      groups: [...organizations, 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [
          `X509SHA256=${certificate.fingerprint256.replaceAll(':', '').toLowerCase()}`,
        ],
      },
    },
    expires: Math.min(Date.parse(certificate.validTo), Date.parse(issuer.validTo)),
  };
}

/** Read by the reader that signing requests were judged with, never from OpenSSL's text. */
function nameOf(certificate: X509Certificate): Subject {
  try {
    return subjectOf(certificate.raw);
  } catch (error) {
    throw new CertificateError(`x509: ${(error as Error).message}`);
  }
}

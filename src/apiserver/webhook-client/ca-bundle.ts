/** `caBundle`: base64 of certificates in PEM. */
import { X509Certificate } from 'node:crypto';

export function pemOf(bundle: string): string {
  return Buffer.from(bundle, 'base64').toString();
}

export function isCaBundle(bundle: string): boolean {
  const blocks = pemOf(bundle).match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g);
  if (blocks === null) return false;
  try {
    for (const block of blocks) new X509Certificate(block);
    return true;
  } catch {
    return false;
  }
}

/** `caBundle`: base64 of certificates in PEM. */
import { X509Certificate } from 'node:crypto';

export function pemOf(bundle: string): string {
  return Buffer.from(bundle, 'base64').toString();
}

export function isCaBundle(bundle: string): boolean {
  const blocks = blocksOf(pemOf(bundle));
  if (blocks.length === 0) return false;
  try {
    for (const block of blocks) new X509Certificate(block);
    return true;
  } catch {
    return false;
  }
}

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/** A beginning without an end is skipped, as Go does. Not by a pattern: that would look for the end from each beginning. */
function blocksOf(pem: string): string[] {
  const blocks: string[] = [];
  for (const part of pem.split(BEGIN).slice(1)) {
    const end = part.indexOf(END);
    if (end >= 0) blocks.push(BEGIN + part.slice(0, end) + END);
  }
  return blocks;
}

/** Whom a CA vouches for: checks a peer's certificate and reads its user and groups. */
import { X509Certificate } from 'node:crypto';
import { RookeryError } from '../errors.ts';
import { fromPem } from '../x509/pem.ts';
import { type Subject, subjectOf } from '../x509/subject.ts';
import type { Usage } from './certificates.ts';

export interface Peer extends Subject {
  /** Milliseconds since the epoch. */
  notAfter: number;
}

const USAGES: Record<Usage, string> = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };

/** One or more CA certificates (old and new, while they are exchanged). */
export class Trust {
  readonly #authorities: X509Certificate[];

  constructor(bundle: string) {
    this.#authorities = fromPem(bundle)
      .filter((block) => block.label === 'CERTIFICATE')
      .map((block) => new X509Certificate(block.der));
    if (this.#authorities.length === 0) throw distrust('there is no CA certificate in the bundle');
  }

  /** `certificate`: DER or PEM. Throws `vault.untrusted` with the reason. */
  verify(certificate: Buffer | string, usage: Usage, now: number): Peer {
    let cert: X509Certificate;
    try {
      cert = new X509Certificate(certificate);
    } catch (error) {
      throw distrust('it cannot be read', error);
    }
    const ca = this.#authorities.find((authority) => cert.checkIssued(authority) && cert.verify(authority.publicKey));
    if (!ca) throw distrust('it is signed by an unknown authority');
    if (cert.ca) throw distrust('it is a CA certificate');
    for (const link of [cert, ca]) {
      if (now < Date.parse(link.validFrom)) throw distrust(`it is not valid before ${link.validFrom}`);
      if (now > Date.parse(link.validTo)) throw distrust(`it expired on ${link.validTo}`);
    }
    if (!cert.keyUsage?.includes(USAGES[usage])) throw distrust(`it is not meant for a ${usage}`);
    return { ...subjectOf(cert.raw), notAfter: Date.parse(cert.validTo) };
  }
}

function distrust(why: string, cause?: unknown): RookeryError {
  return new RookeryError('vault.untrusted', `the certificate is not trusted: ${why}`, { class: 'user', cause });
}

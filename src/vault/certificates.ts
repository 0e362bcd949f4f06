/**
 * Certificates of our own: a CA, the servers and clients it vouches for, and signed requests. Keys are EC P-256
 * throughout; a CA that somebody brings may be RSA. The
 * profile is RFC 5280 as Kubernetes uses it: CN is the user, each O a group. Checking one is `trust.ts`.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, type Random, systemRandom } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import * as d from '../x509/der.ts';
import { ipBytes } from '../x509/ip.ts';
import { fromPem, toPem } from '../x509/pem.ts';
import { subjectOf } from '../x509/subject.ts';
import type { CertificateRequest } from './certificate-request.ts';

/** Certificate and private key, both PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

export type Usage = 'client' | 'server';

export interface Issuing {
  clock: Clock;
  random?: Random;
  /** Default one year. */
  days?: number;
}

const DAY = 86_400_000;
const CA_DAYS = 3650;
/** Clocks of the machines that check it may be behind. */
const BACKDATE = 5 * 60_000;

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaSha256: '1.2.840.10045.4.3.2',
  rsaSha256: '1.2.840.113549.1.1.11',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  altName: '2.5.29.17',
  constraints: '2.5.29.19',
  authorityKey: '2.5.29.35',
  extendedUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const;

// RFC 5280 4.2.1.3, bit 0 first.
const SIGN_AND_ENCIPHER = d.bits(Buffer.from([0b1010_0000]), 5);
const SIGN_ENCIPHER_CERTS = d.bits(Buffer.from([0b1010_0100]), 2);
const ECDSA = d.sequence(d.oid(OID.ecdsaSha256));
/** CAs that others made: what we make ourselves is ECDSA. RSA's algorithm has a parameter, which is nothing. */
const RSA = d.sequence(d.oid(OID.rsaSha256), d.NULL);

export function createCa(commonName: string, issuing: Issuing): KeyPair {
  const keys = newKeys();
  const name = subject(commonName, []);
  const cert = certificate({
    issuing: { days: CA_DAYS, ...issuing },
    issuer: { name, key: keys.privateKey, keyId: keyId(keys.publicKey) },
    name,
    publicKey: keys.publicKey,
    extensions: caExtensions(),
  });
  return { cert, key: privatePem(keys.privateKey) };
}

/** The certificate of `ca` that the holder of `signer` vouches for: clients that trust the one accept what the other signs. */
export function bridgeCa(signer: KeyPair, ca: KeyPair, issuing: Issuing): string {
  const { name, key, keyId: id } = issuerOf(ca);
  return certificate({
    issuing: { days: CA_DAYS, ...issuing },
    issuer: issuerOf(signer),
    name,
    publicKey: createPublicKey(key),
    extensions: caExtensions(),
    subjectKeyId: id,
  });
}

/** `hosts`: DNS names and IP addresses it is reached under. */
export function issueServer(ca: KeyPair, commonName: string, hosts: string[], issuing: Issuing): KeyPair {
  return issue(ca, subject(commonName, []), ['server'], altNames(hosts), issuing);
}

export function issueClient(ca: KeyPair, user: string, groups: string[], issuing: Issuing): KeyPair {
  return issue(ca, subject(user, groups), ['client'], undefined, issuing);
}

/**
 * The certificate for a request that was approved: its subject, key and alternative names, our usages and dates. It is
 * read again as authentication will read it, and thrown away when it names anything but what was approved.
 */
export function signRequest(ca: KeyPair, request: CertificateRequest, usages: Usage[], issuing: Issuing): string {
  const cert = certificate({
    issuing,
    issuer: issuerOf(ca),
    name: request.subject,
    publicKey: request.publicKey,
    extensions: leafExtensions(usages, request.altNames),
  });
  const { commonName, organizations } = subjectOf(new X509Certificate(cert).raw);
  if (commonName !== request.commonName || !isDeepStrictEqual(organizations, request.organizations)) {
    throw new RookeryError('vault.other-name', 'the signed certificate names another subject than the request', {
      hint: 'This is a bug: the certificate was thrown away. Please report it with the request.',
    });
  }
  return cert;
}

function issue(ca: KeyPair, name: Buffer, usages: Usage[], names: Buffer | undefined, issuing: Issuing): KeyPair {
  const keys = newKeys();
  const extensions = leafExtensions(usages, names);
  const cert = certificate({ issuing, issuer: issuerOf(ca), name, publicKey: keys.publicKey, extensions });
  return { cert, key: privatePem(keys.privateKey) };
}

// ---- the certificate ---------------------------------------------------------------------------------------------

interface Issuer {
  name: Buffer;
  key: KeyObject;
  keyId: Buffer;
}

interface Content {
  issuing: Issuing;
  issuer: Issuer;
  name: Buffer;
  publicKey: KeyObject;
  extensions: Buffer[];
  /** Default: of the public key. */
  subjectKeyId?: Buffer;
}

function certificate({ issuing, issuer, name, publicKey, extensions, ...more }: Content): string {
  const subjectKeyId = more.subjectKeyId ?? keyId(publicKey);
  const now = issuing.clock.now();
  const serial = (issuing.random ?? systemRandom).bytes(16);
  // Positive, not zero, always the same length.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const algorithm = issuer.key.asymmetricKeyType === 'rsa' ? RSA : ECDSA;
  const body = d.sequence(
    d.tagged(0, d.integer(Buffer.from([2]))),
    d.integer(serial),
    algorithm,
    issuer.name,
    d.sequence(d.time(now - BACKDATE), d.time(now + (issuing.days ?? 365) * DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    d.tagged(
      3,
      d.sequence(
        ...extensions,
        extension(OID.subjectKey, d.octets(subjectKeyId)),
        extension(OID.authorityKey, d.sequence(d.implicit(0, issuer.keyId))),
      ),
    ),
  );
  const signature = sign('sha256', body, issuer.key);
  return toPem('CERTIFICATE', d.sequence(body, algorithm, d.bits(signature)));
}

function caExtensions(): Buffer[] {
  return [extension(OID.keyUsage, SIGN_ENCIPHER_CERTS, true), extension(OID.constraints, d.sequence(d.TRUE), true)];
}

function leafExtensions(usages: Usage[], names: Buffer | undefined): Buffer[] {
  return [
    extension(OID.keyUsage, SIGN_AND_ENCIPHER, true),
    extension(OID.extendedUsage, d.sequence(...usages.map((usage) => d.oid(OID[usage])))),
    extension(OID.constraints, d.sequence(), true),
    ...(names ? [extension(OID.altName, names)] : []),
  ];
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return d.sequence(d.oid(id), ...(critical ? [d.TRUE] : []), d.octets(value));
}

/** Groups first, as Go and openssl print them. */
function subject(commonName: string, organizations: string[]): Buffer {
  const attribute = (id: string, text: string) => d.set(d.sequence(d.oid(id), d.utf8(text)));
  return d.sequence(
    ...organizations.map((text) => attribute(OID.organization, text)),
    attribute(OID.commonName, commonName),
  );
}

function altNames(hosts: string[]): Buffer {
  return d.sequence(
    ...hosts.map((host) => (isIP(host) ? d.implicit(7, ipBytes(host)) : d.implicit(2, Buffer.from(host, 'latin1')))),
  );
}

// ---- keys --------------------------------------------------------------------------------------------------------

/** What a signature needs of the CA, read from its certificate: names must match byte for byte. */
function issuerOf(ca: KeyPair): Issuer {
  const block = fromPem(ca.cert)[0];
  if (!block) throw new RookeryError('vault.bad-certificate', 'the CA certificate is not PEM');
  const [body] = d.parse(d.parse(block.der)[0]?.content ?? Buffer.alloc(0));
  // Version is optional; then serial, algorithm, issuer, validity, subject.
  const fields = d.parse(body?.content ?? Buffer.alloc(0));
  const name = fields[fields[0]?.tag === 0xa0 ? 5 : 4];
  if (!name) throw new RookeryError('vault.bad-certificate', 'the CA certificate has no subject');
  const key = createPrivateKey(ca.key);
  return { name: name.whole, key, keyId: namedKeyId(fields) ?? keyId(createPublicKey(key)) };
}

/** How a CA that somebody else made names its key: those who check compare it. */
function namedKeyId(fields: d.Node[]): Buffer | undefined {
  const block = fields.find((each) => each.tag === 0xa3);
  const list = block && d.parse(block.content)[0];
  for (const entry of list ? d.parse(list.content) : []) {
    const parts = d.parse(entry.content);
    if (!parts[0] || d.parseOid(parts[0].content) !== OID.subjectKey) continue;
    return d.parse(parts.at(-1)?.content ?? Buffer.alloc(0))[0]?.content;
  }
  return undefined;
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** RFC 7093: the leftmost 160 bits of SHA-256 over the key bits. */
function keyId(key: KeyObject): Buffer {
  const spki = d.parse(key.export({ type: 'spki', format: 'der' }));
  const keyBits = d.parse(spki[0]?.content ?? Buffer.alloc(0))[1]?.content.subarray(1) ?? Buffer.alloc(0);
  return createHash('sha256').update(keyBits).digest().subarray(0, 20);
}

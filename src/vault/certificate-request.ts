/** Certificate signing requests (PKCS #10, RFC 2986), as `CertificateSigningRequest.spec.request` carries them. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { RookeryError } from '../errors.ts';
import { type Node, parse, parseOid, parseOne } from '../x509/der.ts';
import { ipText } from '../x509/ip.ts';
import { fromPem } from '../x509/pem.ts';
import { readSubject } from '../x509/subject.ts';

export interface CertificateRequest {
  commonName: string;
  organizations: string[];
  dnsNames: string[];
  ipAddresses: string[];
  /** Mail addresses and URIs, which some signers must refuse. */
  otherNames: string[];
  publicKey: KeyObject;
  /** DER of the name, as asked. */
  subject: Buffer;
  /** DER of the alternative names extension's value, as asked. */
  altNames?: Buffer;
}

const HASHES: Record<string, string | null> = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  // Ed25519 has its hash built in.
  '1.3.101.112': null,
};

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALT_NAME = '2.5.29.17';

/** Reads one request and checks that its sender holds the key. Throws `vault.bad-request`. */
export function parseRequest(pem: string): CertificateRequest {
  const block = fromPem(pem)[0];
  if (!block?.label.endsWith('CERTIFICATE REQUEST')) throw bad('PEM block type must be CERTIFICATE REQUEST');
  try {
    return read(block.der);
  } catch (error) {
    throw error instanceof RookeryError ? error : bad((error as Error).message, error);
  }
}

function read(der: Buffer): CertificateRequest {
  const [body, algorithm, signature] = children(parseOne(der));
  const [, name, spki, attributes] = children(body);
  if (!body || !name || !spki || !signature) throw bad('a part is missing');
  const publicKey = createPublicKey({ key: spki.whole, format: 'der', type: 'spki' });
  const hash = HASHES[parseOid(children(algorithm)[0]?.content ?? Buffer.alloc(0))];
  if (hash === undefined) throw bad('its signature algorithm is not supported');
  if (!verify(hash, body.whole, publicKey, signature.content.subarray(1))) throw bad('its signature is wrong');
  const altNames = requestedAltNames(attributes);
  return {
    ...readSubject(name),
    ...namesIn(altNames),
    publicKey,
    subject: name.whole,
    ...(altNames ? { altNames } : {}),
  };
}

function requestedAltNames(attributes: Node | undefined): Buffer | undefined {
  const requests = children(attributes).filter((entry) => hasType(entry, EXTENSION_REQUEST));
  const extensions = requests.flatMap((entry) => children(children(children(entry)[1])[0]));
  const [found, ...more] = extensions.filter((extension) => hasType(extension, ALT_NAME));
  if (more.length > 0) throw bad('it has alternative names twice');
  return found && children(found).at(-1)?.content;
}

function hasType(node: Node, id: string): boolean {
  const [type] = children(node);
  return type !== undefined && parseOid(type.content) === id;
}

function namesIn(altNames: Buffer | undefined) {
  const names = altNames ? children(parseOne(altNames)) : [];
  const tagged = (tag: number) => names.filter((node) => node.tag === tag).map((node) => node.content);
  return {
    dnsNames: tagged(0x82).map((bytes) => bytes.toString('latin1')),
    ipAddresses: tagged(0x87).map(ipText),
    otherNames: names.filter((n) => n.tag !== 0x82 && n.tag !== 0x87).map((n) => n.content.toString('latin1')),
  };
}

function children(node: Node | undefined): Node[] {
  return node ? parse(node.content) : [];
}

function bad(why: string, cause?: unknown): RookeryError {
  return new RookeryError('vault.bad-request', `the certificate request cannot be read: ${why}`, {
    class: 'user',
    cause,
  });
}

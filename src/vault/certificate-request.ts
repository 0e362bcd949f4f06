/** Certificate signing requests (PKCS #10, RFC 2986), as `CertificateSigningRequest.spec.request` carries them. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { RookeryError } from '../errors.ts';
import { type Node, parse, parseOid } from './der.ts';
import { ipText } from './ip.ts';
import { fromPem } from './pem.ts';

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

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
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
  const [body, algorithm, signature] = children(parse(der)[0]);
  const [, name, spki, attributes] = children(body);
  if (!body || !name || !spki || !signature) throw bad('a part is missing');
  const publicKey = createPublicKey({ key: spki.whole, format: 'der', type: 'spki' });
  const hash = HASHES[parseOid(children(algorithm)[0]?.content ?? Buffer.alloc(0))];
  if (hash === undefined) throw bad('its signature algorithm is not supported');
  if (!verify(hash, body.whole, publicKey, signature.content.subarray(1))) throw bad('its signature is wrong');
  const named = children(name).flatMap((set) => children(set).map(attribute));
  const texts = (id: string) => named.filter((entry) => entry.id === id).map((entry) => entry.text);
  const altNames = requestedAltNames(attributes);
  return {
    commonName: texts(COMMON_NAME).at(-1) ?? '',
    organizations: texts(ORGANIZATION),
    ...namesIn(altNames),
    publicKey,
    subject: name.whole,
    ...(altNames ? { altNames } : {}),
  };
}

function attribute(node: Node): { id: string; text: string } {
  const [id, value] = children(node);
  // BMPString (30) is UTF-16; the others that occur are ASCII or UTF-8.
  const bytes = value?.content ?? Buffer.alloc(0);
  const text = value?.tag === 0x1e ? Buffer.from(bytes).swap16().toString('utf16le') : bytes.toString('utf8');
  return { id: parseOid(id?.content ?? Buffer.alloc(0)), text };
}

function requestedAltNames(attributes: Node | undefined): Buffer | undefined {
  for (const entry of children(attributes)) {
    const [id, values] = children(entry);
    if (!id || parseOid(id.content) !== EXTENSION_REQUEST) continue;
    for (const extension of children(children(values)[0])) {
      const parts = children(extension);
      if (parts[0] && parseOid(parts[0].content) === ALT_NAME) return parts.at(-1)?.content;
    }
  }
  return undefined;
}

function namesIn(altNames: Buffer | undefined) {
  const names = altNames ? children(parse(altNames)[0]) : [];
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

// Certificate requests whose names are written in every way that ASN.1 has, and some that it does not have. OpenSSL writes the texts; what it
// cannot write is made from its bytes.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bits, implicit, integer, oid, sequence, set, tagged } from '../../src/x509/der.ts';
import { toPem } from '../../src/x509/pem.ts';

const ORGANIZATION = oid('2.5.4.10');
const COMMON_NAME = oid('2.5.4.3');

export interface OddRequest {
  how: string;
  pem: string;
  key: string;
  /** What a reader must understand; absent where it must refuse. */
  organizations?: string[];
}

/** A request of `user` whose name is the given bytes. */
export function requestOf(name: Buffer): { pem: string; key: string; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const body = sequence(integer(Buffer.alloc(1)), name, spki, tagged(0));
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const der = sequence(body, algorithm, bits(sign('sha256', body, privateKey)));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { pem: toPem('CERTIFICATE REQUEST', der), key, privateKey };
}

/** All of them ask for `group` in some way. */
export function oddRequests(group: string, user: string): OddRequest[] {
  const text = (tag: number, content: Buffer, length = Buffer.from([content.length])) =>
    Buffer.concat([Buffer.from([tag]), length, content]);
  const latin = Buffer.from(group);
  const attribute = (id: Buffer, value: Buffer) => sequence(id, value);
  const cn = set(attribute(COMMON_NAME, text(0x0c, Buffer.from(user))));
  const withGroup = (value: Buffer, id = ORGANIZATION) => sequence(set(attribute(id, value)), cn);
  const written = opensslTexts(group);
  const retagged = (tag: number) => text(tag, latin);
  const wide = Buffer.from([...latin].flatMap((byte) => [0, 0, 0, byte]));
  const good = text(0x0c, latin);
  const rows: [string, Buffer, string[]?][] = [
    ['UTF8String', withGroup(written.UTF8), [group]],
    ['PrintableString', withGroup(written.PRINTABLE), [group]],
    ['IA5String', withGroup(written.IA5), [group]],
    ['BMPString', withGroup(written.BMP), [group]],
    ['UniversalString', withGroup(written.UNIV)],
    ['UniversalString by hand', withGroup(text(0x1c, wide))],
    ['T61String', withGroup(written.T61)],
    ['VisibleString', withGroup(written.VISIBLE)],
    ['GeneralString', withGroup(written.GENSTR)],
    ['NumericString of letters', withGroup(retagged(0x12))],
    ['GraphicString', withGroup(retagged(0x19))],
    ['VideotexString', withGroup(retagged(0x15))],
    ['OCTET STRING', withGroup(retagged(0x04))],
    ['INTEGER', withGroup(retagged(0x02))],
    ['context tag', withGroup(retagged(0x80))],
    ['two-byte tag', withGroup(Buffer.concat([Buffer.from([0x1f, 0x0c, latin.length]), latin]))],
    ['NUL at the end', withGroup(text(0x0c, Buffer.from(`${group}\0`)))],
    ['NUL in an IA5String', withGroup(text(0x16, Buffer.from(`${group}\0x`)))],
    ['NUL in a BMPString', withGroup(text(0x1e, Buffer.from(`${group}\0`, 'utf16le').swap16()))],
    ['UTF-8 that is none', withGroup(text(0x0c, Buffer.concat([latin, Buffer.from([0xff])])))],
    ['overlong UTF-8', withGroup(text(0x0c, Buffer.concat([latin.subarray(0, -1), Buffer.from([0xc1, 0xb3])])))],
    ['BMPString of odd length', withGroup(text(0x1e, latin.subarray(1)))],
    ['BMPString with a surrogate', withGroup(text(0x1e, Buffer.from([0xd8, 0, 0, 0x61])))],
    ['PrintableString with @', withGroup(text(0x13, Buffer.from(`${group}@`)))],
    ['constructed UTF8String', withGroup(text(0x2c, good))],
    ['constructed, indefinite', withGroup(Buffer.concat([Buffer.from([0x2c, 0x80]), good, Buffer.alloc(2)]))],
    ['length in two bytes (BER)', withGroup(text(0x0c, latin, Buffer.from([0x81, latin.length])))],
    ['length too large', withGroup(text(0x0c, latin, Buffer.from([latin.length + 1])))],
    ['length too small', withGroup(text(0x0c, latin, Buffer.from([latin.length - 1])))],
    ['padded object identifier', withGroup(good, Buffer.from([0x06, 0x04, 0x55, 0x80, 0x04, 0x0a]))],
    ['object identifier cut off', withGroup(good, Buffer.from([0x06, 0x04, 0x55, 0x04, 0x0a, 0x81]))],
    [
      'object identifier with a huge number',
      withGroup(good, Buffer.from([0x06, 12, 0x55, 4, ...Array(9).fill(0xff), 10])),
    ],
    ['empty object identifier', withGroup(good, Buffer.from([0x06, 0]))],
    ['relative object identifier', withGroup(good, Buffer.from([0x0d, 0x03, 0x55, 0x04, 0x0a]))],
    ['two values in one attribute', sequence(set(sequence(ORGANIZATION, text(0x0c, Buffer.from('x')), good)), cn)],
    ['a sequence in place of the set', sequence(sequence(attribute(ORGANIZATION, good)), cn)],
    ['a tag in place of the attribute', sequence(set(implicit(0, Buffer.concat([ORGANIZATION, good]))), cn)],
    ['in one set with the user', sequence(set(attribute(ORGANIZATION, good), cn.subarray(2))), [group]],
    [
      'twice',
      sequence(set(attribute(ORGANIZATION, text(0x0c, Buffer.from('x')))), set(attribute(ORGANIZATION, good)), cn),
      ['x', group],
    ],
    ['after the user', sequence(cn, set(attribute(ORGANIZATION, good))), [group]],
  ];
  return rows.map(([how, name, organizations]) => ({
    how,
    ...requestOf(name),
    ...(organizations && { organizations }),
  }));
}

const OPENSSL_TYPES = ['UTF8', 'PRINTABLE', 'IA5', 'BMP', 'UNIV', 'T61', 'VISIBLE', 'GENSTR'] as const;

function opensslTexts(value: string): Record<(typeof OPENSSL_TYPES)[number], Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'odd-requests-'));
  try {
    const made = OPENSSL_TYPES.map((type) => {
      const [conf, out] = [join(folder, 'conf'), join(folder, 'out')];
      writeFileSync(conf, `asn1=FORMAT:ASCII,${type}:${value}\n`);
      execFileSync('openssl', ['asn1parse', '-genconf', conf, '-noout', '-out', out]);
      return [type, readFileSync(out)] as const;
    });
    return Object.fromEntries(made) as Record<(typeof OPENSSL_TYPES)[number], Buffer>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Who a certificate or a certificate request names: CN is the user, each O a group. The only reader of names: signing
 * and authentication both ask it, so that what was approved is what is believed later. A text in a form it does not
 * know is refused; a guess would let a request show one group and a certificate mean another.
 */
import { type Node, parse, parseOid, parseOne } from './der.ts';

export interface Subject {
  /** The last one, as Go reads names; empty when there is none. */
  commonName: string;
  organizations: string[];
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const SEQUENCE = 0x30;
const SET = 0x31;
const OID = 0x06;
const VERSION = 0xa0;

/** String types by tag. T61, Visible, General, Graphic, Videotex and Universal strings have no one reading, or no users. */
const TEXTS: Record<number, (bytes: Buffer) => string> = {
  12: utf8,
  18: (bytes) => matching(bytes, /^[0-9 ]*$/, 'NumericString'),
  // Go and OpenSSL let `*`, `&`, `@` and `_` pass; RFC 5280 does not, and UTF8String is there for them.
  19: (bytes) => matching(bytes, /^[A-Za-z0-9 '()+,\-./:=?]*$/, 'PrintableString'),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they belong to this string type.
  22: (bytes) => matching(bytes, /^[\x00-\x7f]*$/, 'IA5String'),
  30: bmp,
};

/** Of a Name (RFC 5280 4.1.2.4). Throws an Error that says what is wrong. */
export function readSubject(name: Node): Subject {
  const attributes = within(name, SEQUENCE).flatMap((set) => within(set, SET).map(attribute));
  const texts = (id: string) => attributes.filter((each) => each.id === id).map((each) => each.text);
  return { commonName: texts(COMMON_NAME).at(-1) ?? '', organizations: texts(ORGANIZATION) };
}

/** Of a certificate in DER. */
export function subjectOf(certificate: Buffer): Subject {
  const [body] = within(parseOne(certificate), SEQUENCE);
  const fields = within(body, SEQUENCE);
  // Version is optional; then serial, algorithm, issuer, validity, subject.
  return readSubject(expected(fields[fields[0]?.tag === VERSION ? 5 : 4], SEQUENCE));
}

function attribute(node: Node): { id: string; text: string } {
  const [type, value, ...more] = within(node, SEQUENCE);
  if (!value || more.length > 0) throw new Error('an attribute of the name is not one type and one value');
  const read = TEXTS[value.tag];
  if (!read) throw new Error(`the name has a text of the ASN.1 type with tag ${value.tag}, which is not supported`);
  const text = read(value.content);
  if (text.includes('\0')) throw new Error('the name has a NUL character in a text');
  return { id: parseOid(expected(type, OID).content), text };
}

function within(node: Node | undefined, tag: number): Node[] {
  return parse(expected(node, tag).content);
}

function expected(node: Node | undefined, tag: number): Node {
  if (node?.tag !== tag) throw new Error(`the ASN.1 tag ${tag} is expected, not ${node?.tag ?? 'nothing'}`);
  return node;
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Error('the name has a UTF8String that is not UTF-8', { cause });
  }
}

/** UCS-2: two bytes each, without the pairs that UTF-16 makes of rarer characters. */
function bmp(bytes: Buffer): string {
  if (bytes.length % 2 !== 0) throw new Error('the name has a BMPString of an odd length');
  const text = Buffer.from(bytes).swap16().toString('utf16le');
  if (/[\ud800-\udfff]/.test(text)) throw new Error('the name has a BMPString with a surrogate');
  return text;
}

function matching(bytes: Buffer, allowed: RegExp, type: string): string {
  const text = bytes.toString('latin1');
  if (!allowed.test(text)) throw new Error(`the name has a character that a ${type} cannot have`);
  return text;
}

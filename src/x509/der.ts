/**
 * As much of ASN.1 DER (ITU-T X.690) as X.509 certificates and requests need. Ours because it is small, and because
 * @peculiar/x509 costs more to import (0.2 s, 20 MB) than the whole API server to start; the tests use that as judge.
 */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const sequence = (...parts: Buffer[]): Buffer => der(TAG.sequence, ...parts);
export const set = (...parts: Buffer[]): Buffer => der(TAG.set, ...parts);
export const octets = (content: Buffer): Buffer => der(TAG.octetString, content);
export const utf8 = (text: string): Buffer => der(TAG.utf8, Buffer.from(text));
export const NULL = der(TAG.null);
export const TRUE = der(TAG.boolean, Buffer.from([0xff]));

/** A context tag `[n]`, constructed. */
export const tagged = (n: number, ...parts: Buffer[]): Buffer => der(0xa0 | n, ...parts);
/** A context tag `[n]` in place of a primitive type's own. */
export const implicit = (n: number, content: Buffer): Buffer => der(0x80 | n, content);

/** Of an unsigned big-endian number. */
export function integer(value: Buffer): Buffer {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start++;
  const bytes = value.subarray(start);
  return der(TAG.integer, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes);
}

export function bits(content: Buffer, unused = 0): Buffer {
  return der(TAG.bitString, Buffer.from([unused]), content);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return der(TAG.oid, Buffer.from(bytes));
}

/** RFC 5280 4.1.2.5: two-digit years through 2049. */
export function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')}`;
  return text < '2050' ? der(TAG.utcTime, Buffer.from(text.slice(2))) : der(TAG.generalizedTime, Buffer.from(text));
}

export interface Node {
  tag: number;
  content: Buffer;
  /** Tag and length included. */
  whole: Buffer;
}

/**
 * The values that follow each other in a buffer; throws when it is not DER. Strict, because two readers that disagree
 * about the same bytes are how a name is shown to one and believed by the other: one spelling of every length and tag.
 */
export function parse(buffer: Buffer): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  while (at < buffer.length) {
    const tag = buffer.readUInt8(at);
    if ((tag & 0x1f) === 0x1f) throw new Error('not DER: a tag of more than one byte');
    const { size, start } = lengthAt(buffer, at + 1);
    if (start + size > buffer.length) throw new Error('not DER: a value is longer than what holds it');
    nodes.push({ tag, content: buffer.subarray(start, start + size), whole: buffer.subarray(at, start + size) });
    at = start + size;
  }
  return nodes;
}

/** The only value of a buffer: nothing may follow it. */
export function parseOne(buffer: Buffer): Node {
  const [node, ...more] = parse(buffer);
  if (!node || more.length > 0) throw new Error('not DER: exactly one value is expected');
  return node;
}

/** The length written at `at`, and where the content starts. Indefinite and padded lengths are BER, not DER. */
function lengthAt(buffer: Buffer, at: number): { size: number; start: number } {
  if (at >= buffer.length) throw new Error('not DER: a length is missing');
  const first = buffer.readUInt8(at);
  if (first < 0x80) return { size: first, start: at + 1 };
  const count = first & 0x7f;
  const start = at + 1 + count;
  if (count === 0 || count > 4 || start > buffer.length) throw new Error('not DER: a length cannot be read');
  const size = buffer.readUIntBE(at + 1, count);
  if (size < 0x80 || buffer[at + 1] === 0) throw new Error('not DER: a length is not written in its shortest form');
  return { size, start };
}

export function parseOid(content: Buffer): string {
  const arcs: number[] = [];
  let arc = 0;
  let isFirstByte = true;
  for (const byte of content) {
    if (isFirstByte && byte === 0x80) throw new Error('not DER: an object identifier has padding');
    arc = arc * 128 + (byte & 0x7f);
    if (!Number.isSafeInteger(arc)) throw new Error('an object identifier has too large a number');
    isFirstByte = (byte & 0x80) === 0;
    if (!isFirstByte) continue;
    if (arcs.length === 0) arcs.push(Math.min(Math.floor(arc / 40), 2), arc - 40 * Math.min(Math.floor(arc / 40), 2));
    else arcs.push(arc);
    arc = 0;
  }
  if (arcs.length === 0 || !isFirstByte) throw new Error('not DER: an object identifier is cut off');
  return arcs.join('.');
}

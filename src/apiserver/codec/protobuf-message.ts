/**
 * Protobuf messages to the JSON form of the same value, driven by the field tables. Go writes every field that is no
 * pointer, zero or not; what its JSON tags would leave out is left out here too.
 */
import { assign } from '../json.ts';
import { type FieldRow, messageTable, splitName } from '../kinds/tables.ts';
import { BYTES, FIXED64, MalformedError, type Reader, VARINT } from './protobuf-reader.ts';
import { CONTENTS, DEPTH_LIMIT, SHAPES, type Shape } from './protobuf-shapes.ts';

type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'bytes' | 'double';
const WIRE: Record<Scalar, number> = {
  string: BYTES,
  bytes: BYTES,
  bool: VARINT,
  int32: VARINT,
  int64: VARINT,
  double: FIXED64,
};

type Content = Record<string, unknown>;

export interface Field {
  number: number;
  name: string;
  /** A scalar, or '' for a message. */
  scalar: Scalar | '';
  wireType: number;
  type: string;
  message: Message | undefined;
  repeated: boolean;
  map: boolean;
  dropZero: boolean;
  inline: boolean;
}

export interface Message {
  /** By field number. */
  fields: (Field | undefined)[];
  /** Makes the JSON form where it is not an object with these fields. */
  shape: Shape | undefined;
  /** The fields of such a JSON form. */
  content: ((value: unknown) => Content | undefined) | undefined;
}

const compiled = new Map<string, Message>();

/** The message of a full name such as `io.k8s.api.core.v1.Pod`; undefined if there is none. */
export function messageOf(name: string): Message | undefined {
  const known = compiled.get(name);
  if (known) return known;
  const [prefix, short] = splitName(name);
  const table = messageTable(prefix);
  if (!Object.hasOwn(table, short)) return undefined;
  const rows = table[short] as FieldRow[];
  const wrapped = rows.find((row) => row[3].includes('u'));
  const message: Message = {
    fields: [],
    shape: SHAPES[name] ?? (wrapped && ((content) => content[wrapped[1]] ?? [])),
    content: CONTENTS[name] ?? (wrapped && ((value) => ({ [wrapped[1]]: value }))),
  };
  for (const [number, jsonName, type, flags] of rows) {
    const scalar = type in WIRE ? (type as Scalar) : '';
    message.fields[number] = {
      number,
      name: jsonName,
      scalar,
      wireType: flags.includes('m') || scalar === '' ? BYTES : WIRE[scalar],
      type,
      message: undefined,
      repeated: flags.includes('r'),
      map: flags.includes('m'),
      dropZero: flags.includes('z'),
      inline: flags.includes('i'),
    };
  }
  compiled.set(name, message);
  return message;
}

/** Reads fields up to `reader.end` into `out`. */
export function readMessage(reader: Reader, message: Message, out: Content, depth: number): void {
  if (depth > DEPTH_LIMIT) throw new MalformedError('exceeded max depth');
  while (reader.position < reader.end) {
    const tag = reader.uint32();
    const wireType = tag & 7;
    const number = tag >>> 3;
    if (number === 0) throw new MalformedError(`proto: illegal tag 0 (wire type ${wireType})`);
    const field = message.fields[number];
    if (!field) reader.skip(wireType);
    else if (wireType === field.wireType) readField(reader, field, out, message, depth);
    else if (wireType === BYTES && field.repeated && field.scalar !== '') readPacked(reader, field, out);
    else throw new MalformedError(`proto: wrong wireType = ${wireType} for field ${field.name}`);
  }
}

function readField(reader: Reader, field: Field, out: Content, message: Message, depth: number): void {
  if (field.map) {
    readEntry(reader, field, out, depth);
    return;
  }
  if (field.inline) {
    nested(reader, target(field), out, depth);
    return;
  }
  const value =
    field.scalar === ''
      ? readValue(reader, field, field.repeated ? undefined : out[field.name], depth)
      : field.scalar === 'bytes' && message.shape
        ? reader.bytes()
        : readScalar(reader, field.scalar);
  if (field.repeated) push(out, field.name, value === undefined ? null : value);
  else if (value === undefined || (field.dropZero && isZero(value))) delete out[field.name];
  else out[field.name] = value;
}

/** A message as its JSON value; `earlier` is merged into, as protobuf wants when a field comes twice. */
function readValue(reader: Reader, field: Field, earlier: unknown, depth: number): unknown {
  const message = target(field);
  const content = !message.shape && typeof earlier === 'object' && earlier ? (earlier as Content) : {};
  nested(reader, message, content, depth);
  return message.shape ? message.shape(content, depth) : content;
}

function nested(reader: Reader, message: Message, out: Content, depth: number): void {
  const stop = reader.length();
  const outer = reader.end;
  reader.end = stop;
  readMessage(reader, message, out, depth + 1);
  reader.end = outer;
}

function readEntry(reader: Reader, field: Field, out: Content, depth: number): void {
  const stop = reader.length();
  const outer = reader.end;
  reader.end = stop;
  let key = '';
  let value: unknown;
  while (reader.position < stop) {
    const tag = reader.uint32();
    if (tag === 0x0a) key = reader.string();
    else if (tag >>> 3 === 2) {
      const wanted = field.scalar === '' ? BYTES : WIRE[field.scalar];
      if ((tag & 7) !== wanted) throw new MalformedError(`proto: wrong wireType = ${tag & 7} for field ${field.name}`);
      value = field.scalar === '' ? readValue(reader, field, undefined, depth) : readScalar(reader, field.scalar);
    } else reader.skip(tag & 7);
  }
  reader.end = outer;
  out[field.name] ??= {};
  assign(
    out[field.name] as Content,
    key,
    value === undefined ? (field.scalar === '' ? null : zeroOf(field.scalar)) : value,
  );
}

function readPacked(reader: Reader, field: Field, out: Content): void {
  const stop = reader.length();
  const outer = reader.end;
  reader.end = stop;
  while (reader.position < stop) push(out, field.name, readScalar(reader, field.scalar as Scalar));
  reader.end = outer;
}

function readScalar(reader: Reader, scalar: Scalar): unknown {
  switch (scalar) {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.int64() !== 0;
    case 'int32':
      return reader.int64() | 0;
    case 'int64':
      return reader.int64();
    case 'bytes':
      return reader.bytes().toString('base64');
    case 'double':
      return reader.double();
  }
}

function push(out: Content, name: string, value: unknown): void {
  const list = out[name] as unknown[] | undefined;
  if (list) list.push(value);
  else out[name] = [value];
}

/** Resolved when first met, so that reading a Pod does not load the messages of every other kind. */
export function target(field: Field): Message {
  field.message ??= messageOf(field.type);
  if (!field.message) throw new Error(`no message ${field.type}`);
  return field.message;
}

function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function zeroOf(scalar: Scalar): unknown {
  if (scalar === 'string' || scalar === 'bytes') return '';
  return scalar === 'bool' ? false : 0;
}

/**
 * Parts of an OpenAPI v2 document in the protobuf form older clients ask for (gnostic's openapi.v2.Document). What has
 * no field of its own there, extensions and defaults, is text: YAML, of which JSON is a part.
 */
import { Writer } from '../codec/protobuf-writer.ts';

type Part = Record<string, unknown>;
/** Writes one value under a field number. */
type Write = (writer: Writer, number: number, value: never) => void;
/** [field number, how] by the name the field has in JSON. */
type Fields = Record<string, [number: number, write: Write]>;

const text: Write = (writer, number, value: string) => writer.string(number, value);
const flag: Write = (writer, number, value: boolean) => writer.bool(number, value);
const whole: Write = (writer, number, value: number) => writer.int(number, value);
const real: Write = (writer, number, value: number) => writer.double(number, value);
const yaml: Write = (writer, number, value: unknown) => {
  const mark = writer.length;
  writer.string(2, `${JSON.stringify(value)}\n`);
  writer.close(number, mark);
};

function each(write: Write): Write {
  return (writer, number, values: unknown[]) => {
    for (let i = values.length - 1; i >= 0; i--) write(writer, number, values[i] as never);
  };
}

function message(fields: () => Fields, extensions?: number): Write {
  return (writer, number, value: Part) => {
    const mark = writer.length;
    writeFields(writer, fields(), value, extensions);
    writer.close(number, mark);
  };
}

/** A message whose only field (`inner`) holds the value: how gnostic says that a value may have several forms. */
function wrapped(inner: number, write: Write): Write {
  return (writer, number, value: unknown) => {
    const mark = writer.length;
    write(writer, inner, value as never);
    writer.close(number, mark);
  };
}

/** A map as a list of named values. */
function named(entry: number, write: Write): Write {
  return wrapped(entry, entries(write));
}

function entries(write: Write): Write {
  return (writer, number, values: Part) => {
    for (const name of Object.keys(values).reverse()) {
      const mark = writer.length;
      write(writer, 2, values[name] as never);
      writer.string(1, name);
      writer.close(number, mark);
    }
  };
}

/** Highest number first, as everything here is written backwards. */
function writeFields(writer: Writer, fields: Fields, value: Part, extensions?: number): void {
  if (extensions !== undefined) {
    const own = Object.fromEntries(Object.entries(value).filter(([name]) => name.startsWith('x-')));
    entries(yaml)(writer, extensions, own as never);
  }
  for (const name of orderOf(fields)) {
    if (value[name] === undefined) continue;
    const [number, write] = fields[name] as [number, Write];
    write(writer, number, value[name] as never);
  }
}

const orders = new WeakMap<Fields, string[]>();

function orderOf(fields: Fields): string[] {
  let order = orders.get(fields);
  if (!order) {
    order = Object.keys(fields).sort((a, b) => (fields[b]?.[0] ?? 0) - (fields[a]?.[0] ?? 0));
    orders.set(fields, order);
  }
  return order;
}

const schema = message(() => SCHEMA, 31);

const additional: Write = (writer, number, value: boolean | Part) => {
  const mark = writer.length;
  if (typeof value === 'boolean') writer.bool(2, value);
  else schema(writer, 1, value as never);
  writer.close(number, mark);
};

const SCHEMA: Fields = {
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  default: [5, yaml],
  multipleOf: [6, real],
  maximum: [7, real],
  exclusiveMaximum: [8, flag],
  minimum: [9, real],
  exclusiveMinimum: [10, flag],
  maxLength: [11, whole],
  minLength: [12, whole],
  pattern: [13, text],
  maxItems: [14, whole],
  minItems: [15, whole],
  uniqueItems: [16, flag],
  maxProperties: [17, whole],
  minProperties: [18, whole],
  required: [19, each(text)],
  enum: [20, each(yaml)],
  additionalProperties: [21, additional],
  type: [22, wrapped(1, text)],
  items: [23, wrapped(1, schema)],
  allOf: [24, each(schema)],
  properties: [25, named(1, schema)],
};

const BODY: Fields = {
  description: [1, text],
  name: [2, text],
  in: [3, text],
  required: [4, flag],
  schema: [5, schema],
};
const QUERY: Fields = {
  required: [1, flag],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [6, text],
  uniqueItems: [20, flag],
};
const PATH: Fields = { ...QUERY, type: [5, text], uniqueItems: [19, flag] };

const parameter: Write = (writer, number, value: Part) => {
  const mark = writer.length;
  if (value.in === 'body') message(() => BODY)(writer, 1, value as never);
  else {
    const inner = writer.length;
    if (value.in === 'query') message(() => QUERY)(writer, 3, value as never);
    else message(() => PATH)(writer, 4, value as never);
    writer.close(2, inner);
  }
  writer.close(number, mark);
};

const parameterItem: Write = (writer, number, value: Part) => {
  const mark = writer.length;
  if (value.$ref !== undefined) message(() => ({ $ref: [1, text] }))(writer, 2, value as never);
  else parameter(writer, 1, value as never);
  writer.close(number, mark);
};

const response = wrapped(
  1,
  message(() => ({ description: [1, text], schema: [2, wrapped(1, schema)] })),
);

const operation = message(() => OPERATION, 13);
const OPERATION: Fields = {
  tags: [1, each(text)],
  description: [3, text],
  operationId: [5, text],
  produces: [6, each(text)],
  consumes: [7, each(text)],
  parameters: [8, each(parameterItem)],
  responses: [9, named(1, response)],
  schemes: [10, each(text)],
};
const PATH_ITEM: Fields = {
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  patch: [8, operation],
  parameters: [9, each(parameterItem)],
};
const DOCUMENT: Fields = {
  swagger: [1, text],
  info: [2, message(() => ({ title: [1, text], version: [2, text] }))],
  parameters: [10, named(1, parameter)],
  security: [12, each(named(1, wrapped(1, each(text))))],
  securityDefinitions: [
    13,
    named(
      1,
      wrapped(
        2,
        message(() => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] })),
      ),
    ),
  ],
};

/** Entries of the document's `paths`. */
export function encodePaths(paths: Record<string, object>): Buffer {
  return alone((writer) => entries(message(() => PATH_ITEM))(writer, 2, paths as never));
}

/** Entries of the document's `definitions`. */
export function encodeDefinitions(definitions: Record<string, object>): Buffer {
  return alone((writer) => entries(schema)(writer, 1, definitions as never));
}

/** A whole document in pieces: its head, and the entries of paths and definitions as they were encoded before. */
export function encodeDocument(head: object, paths: Buffer[], definitions: Buffer[]): Buffer[] {
  const fields = alone((writer) => writeFields(writer, DOCUMENT, head as Part));
  return [fields, opening(8, paths), ...paths, opening(9, definitions), ...definitions];
}

/** Number and length of a field whose content is elsewhere. */
function opening(number: number, pieces: Buffer[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return alone((writer) => writer.opening(number, length));
}

function alone(write: (writer: Writer) => void): Buffer {
  const writer = new Writer();
  write(writer);
  return writer.finish();
}

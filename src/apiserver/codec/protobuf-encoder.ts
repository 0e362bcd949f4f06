/**
 * Answers as Kubernetes' protobuf, for clients that take nothing else. Go also writes fields that are zero; leaving them
 * out reads the same.
 */
import type { KubeObject, ListMeta } from '../../api/object.ts';
import { MAGIC, messageOfKind } from './protobuf.ts';
import { type Field, type Message, target } from './protobuf-message.ts';
import { Writer } from './protobuf-writer.ts';

type Content = Record<string, unknown>;

/** Fields in the order they are written: the last one first. */
const orders = new WeakMap<Message, Field[]>();

/** An object of a built-in kind, a Status or PartialObjectMetadata. */
export function encodeProtobuf(object: { apiVersion: string; kind: string }): Buffer {
  const writer = new Writer();
  writeMessage(writer, known(object.apiVersion, object.kind), object as unknown as Content);
  writer.close(2, 0);
  return sealed(writer, object);
}

/** One event of a watch: its length in four bytes, then the event with the object inside. */
export function encodeEvent(type: string, object: { apiVersion: string; kind: string }): Buffer {
  const writer = new Writer();
  writer.bytes(1, encodeProtobuf(object));
  writer.close(2, 0);
  writer.string(1, type);
  const event = writer.finish();
  const frame = Buffer.allocUnsafe(4 + event.length);
  frame.writeUInt32BE(event.length);
  event.copy(frame, 4);
  return frame;
}

/** A list in pieces; the items are encoded one by one, as `pieces` is read. */
export class ListEncoder {
  readonly #list: { apiVersion: string; kind: string };
  readonly #item: Message;
  readonly #numbers: { metadata: number; items: number };
  readonly #items: Buffer[] = [];
  readonly #writer = new Writer();

  constructor(list: { apiVersion: string; kind: string }) {
    this.#list = list;
    const { fields } = known(list.apiVersion, list.kind);
    const find = (name: string) => fields.find((field) => field?.name === name) as Field;
    this.#item = target(find('items'));
    // The one message that changed its numbers between versions.
    const swapped = list.apiVersion === 'meta.k8s.io/v1beta1';
    const numbers = { metadata: find('metadata').number, items: find('items').number };
    this.#numbers = swapped ? { metadata: numbers.items, items: numbers.metadata } : numbers;
  }

  add(object: KubeObject): void {
    writeMessage(this.#writer, this.#item, object as unknown as Content);
    this.#writer.close(this.#numbers.items, 0);
    this.#items.push(this.#writer.finish());
  }

  finish(metadata: ListMeta): Buffer[] {
    const writer = this.#writer;
    writeMessage(writer, known('meta.k8s.io/v1', 'ListMeta'), metadata as unknown as Content);
    writer.close(this.#numbers.metadata, 0);
    const head = writer.finish();
    const length = this.#items.reduce((sum, item) => sum + item.length, head.length);
    writer.opening(2, length);
    // What follows the content of the envelope would stand after the items; empty fields may be left out.
    return [sealed(writer, this.#list), head, ...this.#items];
  }
}

function known(apiVersion: string, kind: string): Message {
  const message = messageOfKind(apiVersion, kind);
  if (!message) throw new Error(`no message for ${apiVersion} ${kind}`);
  return message;
}

/** The beginning of an envelope around what `writer` holds. */
function sealed(writer: Writer, { apiVersion, kind }: { apiVersion: string; kind: string }): Buffer {
  const mark = writer.length;
  writer.string(2, kind);
  writer.string(1, apiVersion);
  writer.close(1, mark);
  writer.raw(MAGIC);
  return writer.finish();
}

function writeMessage(writer: Writer, message: Message, value: Content): void {
  for (const field of orderOf(message)) {
    if (field.inline) {
      const mark = writer.length;
      writeMessage(writer, target(field), value);
      if (writer.length > mark) writer.close(field.number, mark);
      continue;
    }
    const content = value[field.name];
    if (content === undefined || content === null) continue;
    if (field.map) writeMap(writer, field, content as Content);
    else if (field.repeated) {
      const list = content as unknown[];
      for (let i = list.length - 1; i >= 0; i--) writeValue(writer, field, field.number, list[i]);
    } else writeValue(writer, field, field.number, content);
  }
}

/** Keys in order, as Go writes them. */
function writeMap(writer: Writer, field: Field, map: Content): void {
  const keys = Object.keys(map).sort();
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i] as string;
    const mark = writer.length;
    writeValue(writer, field, 2, map[key]);
    writer.string(1, key);
    writer.close(field.number, mark);
  }
}

function writeValue(writer: Writer, field: Field, number: number, value: unknown): void {
  switch (field.scalar) {
    case 'string':
      return writer.string(number, value as string);
    case 'bool':
      return writer.bool(number, value as boolean);
    case 'int32':
    case 'int64':
      return writer.int(number, value as number);
    case 'double':
      return writer.double(number, value as number);
    case 'bytes':
      return writer.bytes(number, Buffer.isBuffer(value) ? value : Buffer.from(value as string, 'base64'));
    case '': {
      const message = target(field);
      const content = message.content ? message.content(value) : (value as Content);
      const mark = writer.length;
      if (content) writeMessage(writer, message, content);
      writer.close(number, mark);
    }
  }
}

function orderOf(message: Message): Field[] {
  let order = orders.get(message);
  if (!order) {
    order = message.fields.filter((field) => field !== undefined).reverse();
    orders.set(message, order);
  }
  return order;
}

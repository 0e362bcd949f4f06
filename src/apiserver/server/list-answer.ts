/** A list on its way to the client, in the form it accepts and in pieces that make nobody else wait. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KubeObject } from '../../api/object.ts';
import type { Accepted } from '../codec/accept.ts';
import { emptyTable, partialMetadata, rowOf, type TableOptions } from '../codec/shapes.ts';
import { sendsAsStored, servedAsStored, servedInTurns, storedPrefix, viewed } from '../handlers/stored-form.ts';
import { groupVersion, type Resource } from '../resource.ts';
import type { Stored } from '../store/store.ts';
import { isLarge } from '../turns.ts';
import { yamlText } from './answer.ts';
import type { Exchange } from './exchange.ts';
import type { Listed } from './list.ts';

/** Characters, and rows, written between two looks at the event loop. */
const PIECE = 64 * 1024;
const SLICE = 250;
/** Protobuf takes longer for each. */
const PROTOBUF_SLICE = 25;
/** Shorter lists are sent in one piece. */
const SHORT = 100;

export async function sendList(
  exchange: Exchange,
  resource: Resource,
  listed: Listed,
  accepted: Accepted,
  table: Omit<TableOptions, 'version'>,
): Promise<void> {
  if (accepted.encoding === 'protobuf') return sendProtobuf(exchange, resource, listed, accepted);
  const pieces =
    accepted.shape === 'Table'
      ? renderTable(resource, listed, accepted.pretty, { ...table, version: accepted.version })
      : renderList(resource, listed, accepted);
  if (listed.items.length <= SHORT) {
    let body = '';
    if (Symbol.iterator in pieces) for (const piece of pieces) body += piece;
    else for await (const piece of pieces) body += piece;
    if (accepted.encoding === 'json') return exchange.send(200, 'application/json', body);
    return exchange.send(200, 'application/yaml', await yamlText(JSON.parse(body)));
  }
  // JSON is YAML, and many times cheaper to write than indented text.
  const stream = exchange.stream(200, `application/${accepted.encoding}`);
  for await (const piece of pieces) {
    if (exchange.isGone) return;
    await stream.write(piece);
    // A client that takes everything at once makes nobody else wait.
    await nextTurn();
  }
  stream.end();
}

async function sendProtobuf(exchange: Exchange, resource: Resource, listed: Listed, accepted: Accepted): Promise<void> {
  const { ListEncoder } = await import('../codec/protobuf-encoder.ts');
  const encoder = new ListEncoder(listType(resource, accepted));
  const partial = accepted.shape === 'PartialObjectMetadata';
  for (const [index, stored] of listed.items.entries()) {
    const object = viewed(resource, stored);
    // Items of a list of objects carry no apiVersion and kind; protobuf has no field for them anyway.
    encoder.add(partial ? partialMetadata(object, accepted.version) : object);
    if (index % PROTOBUF_SLICE === PROTOBUF_SLICE - 1) await nextTurn();
  }
  const body = Buffer.concat(encoder.finish(listed.meta));
  return exchange.send(200, 'application/vnd.kubernetes.protobuf', body);
}

function listType(resource: Resource, { shape, version }: Accepted): { kind: string; apiVersion: string } {
  return shape === 'PartialObjectMetadata'
    ? { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${version}` }
    : { kind: resource.listKind, apiVersion: groupVersion(resource.group, resource.version) };
}

/** The JSON of a list of objects, in pieces. */
function* renderList(resource: Resource, listed: Listed, accepted: Accepted): Generator<string> {
  const { version, shape, pretty } = accepted;
  const partial = shape === 'PartialObjectMetadata';
  yield listStart({ ...listType(resource, accepted), metadata: listed.meta }, 'items', pretty);
  yield* joined(
    listed.items,
    pretty,
    partial ? (stored) => JSON.stringify(partialMetadata(viewed(resource, stored), version)) : itemRenderer(resource),
  );
  yield listEnd(listed, pretty);
}

/** The JSON of a table, in pieces. */
async function* renderTable(
  resource: Resource,
  listed: Listed,
  pretty: boolean,
  options: TableOptions,
): AsyncGenerator<string> {
  const { rows: _, ...head } = emptyTable(resource, listed.meta, options.version);
  yield listStart(head, 'rows', pretty);
  const pieces = new Pieces(pretty);
  for (const stored of listed.items) {
    const isOne = isLarge(stored.json.length);
    const object = isOne ? await servedInTurns(resource, stored, options.scope) : viewed(resource, stored);
    const row = rowOf(resource, object, options);
    if (pieces.add(JSON.stringify(row instanceof Promise ? await row : row))) yield pieces.take();
  }
  yield pieces.take();
  yield listEnd(listed, pretty);
}

function listStart(head: object, items: string, pretty: boolean): string {
  return pretty
    ? `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${items}": [`
    : `${JSON.stringify(head).slice(0, -1)},"${items}":[`;
}

function listEnd(listed: Listed, pretty: boolean): string {
  return !pretty ? ']}\n' : listed.items.length > 0 ? '\n  ]\n}' : ']\n}';
}

function itemRenderer(resource: Resource): (stored: Stored) => string {
  const converted = (stored: Stored) => JSON.stringify(listItem(resource, viewed(resource, stored)));
  if (!servedAsStored(resource)) return converted;
  if (resource.custom) {
    const isSent = sendsAsStored(resource);
    return (stored) => (isSent(stored) ? stored.json : converted(stored));
  }
  const prefix = storedPrefix(resource);
  return (stored) => (stored.json.startsWith(prefix) ? `{${stored.json.slice(prefix.length)}` : stored.json);
}

/** Items of typed lists carry no apiVersion and kind; custom resources do. */
function listItem(resource: Resource, object: KubeObject): object {
  if (resource.custom) return object;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

function* joined(items: Stored[], pretty: boolean, render: (stored: Stored) => string): Generator<string> {
  const pieces = new Pieces(pretty);
  for (const stored of items) if (pieces.add(render(stored))) yield pieces.take();
  yield pieces.take();
}

/** Items of a list, gathered until there are enough of them to be sent. */
class Pieces {
  readonly #pretty: boolean;
  #count = 0;
  #piece = '';

  constructor(pretty: boolean) {
    this.#pretty = pretty;
  }

  /** True where it is time to take what there is. */
  add(json: string): boolean {
    this.#piece += (this.#count === 0 ? '' : ',') + (this.#pretty ? indented(json) : json);
    this.#count++;
    return this.#piece.length > PIECE || this.#count % SLICE === 0;
  }

  take(): string {
    const piece = this.#piece;
    this.#piece = '';
    return piece;
  }
}

/** As it stands in an indented list. */
function indented(json: string): string {
  return `\n    ${JSON.stringify(JSON.parse(json), null, 2).replaceAll('\n', '\n    ')}`;
}

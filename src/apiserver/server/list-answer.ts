/** A list on its way to the client, in the form it accepts and in pieces that make nobody else wait. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KubeObject } from '../../api/object.ts';
import type { Accepted } from '../codec/accept.ts';
import { type IncludeObject, partialMetadata, tableOf } from '../codec/shapes.ts';
import { sendsAsStored, servedAsStored, storedPrefix, viewed } from '../handlers/stored-form.ts';
import { groupVersion, type Resource } from '../resource.ts';
import type { Stored } from '../store/store.ts';
import { yamlText } from './answer.ts';
import type { Exchange } from './exchange.ts';
import type { Listed } from './list.ts';

/** Rows written between two looks at the event loop. */
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
  include: IncludeObject,
  now: number,
): Promise<void> {
  if (accepted.encoding === 'protobuf') return sendProtobuf(exchange, resource, listed, accepted);
  const pieces = renderList(resource, listed, accepted, include, now);
  if (listed.items.length <= SHORT) {
    const body = [...pieces].join('');
    if (accepted.encoding === 'json') return exchange.send(200, 'application/json', body);
    return exchange.send(200, 'application/yaml', await yamlText(JSON.parse(body)));
  }
  // JSON is YAML, and many times cheaper to write than indented text.
  const stream = exchange.stream(200, `application/${accepted.encoding}`);
  for (const piece of pieces) {
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

/** The JSON of the list, in pieces. */
function* renderList(
  resource: Resource,
  listed: Listed,
  accepted: Accepted,
  include: IncludeObject,
  now: number,
): Generator<string> {
  const { version, shape, pretty } = accepted;
  const begin = (head: object, items: string) =>
    pretty
      ? `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${items}": [`
      : `${JSON.stringify(head).slice(0, -1)},"${items}":[`;
  if (shape === 'Table') {
    const { rows: _, ...head } = tableOf(resource, [], listed.meta, { version, include, now });
    yield begin(head, 'rows');
    yield* joined(listed.items, pretty, (stored) => {
      const one = tableOf(resource, [viewed(resource, stored)], {}, { version, include, now });
      return JSON.stringify(one.rows[0]);
    });
  } else {
    const partial = shape === 'PartialObjectMetadata';
    yield begin({ ...listType(resource, accepted), metadata: listed.meta }, 'items');
    yield* joined(
      listed.items,
      pretty,
      partial ? (stored) => JSON.stringify(partialMetadata(viewed(resource, stored), version)) : itemRenderer(resource),
    );
  }
  yield !pretty ? ']}\n' : listed.items.length > 0 ? '\n  ]\n}' : ']\n}';
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
  const one = pretty ? (stored: Stored) => indented(render(stored)) : render;
  let piece = '';
  for (let i = 0; i < items.length; i++) {
    piece += (i === 0 ? '' : ',') + one(items[i] as Stored);
    if (piece.length > 64 * 1024 || i % SLICE === SLICE - 1) {
      yield piece;
      piece = '';
    }
  }
  yield piece;
}

/** As it stands in an indented list. */
function indented(json: string): string {
  return `\n    ${JSON.stringify(JSON.parse(json), null, 2).replaceAll('\n', '\n    ')}`;
}

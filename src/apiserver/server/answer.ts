/** How objects go to the wire: in the shape and encoding the client accepts. */
import type { KubeObject } from '../../api/object.ts';
import { type Accepted, negotiate, type Offer, parseAccept, type Shape } from '../codec/accept.ts';
import { jsonTextInPieces } from '../codec/json-text.ts';
import { emptyTable, type IncludeObject, partialMetadata, rowOf, type Table } from '../codec/shapes.ts';
import { isLargeObject } from '../handlers/stored-form.ts';
import { ApiError, badRequest, type Status } from '../status.ts';
import { inTurns } from '../turns.ts';
import type { Call } from './call.ts';
import type { Exchange } from './exchange.ts';

const EVERY_SHAPE: readonly Shape[] = ['object', 'Table', 'PartialObjectMetadata'];
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** What rows of a table carry besides their cells; the question comes up for tables only. */
export function includeOf(exchange: Exchange, { shape }: Accepted): IncludeObject {
  const value = exchange.query.get('includeObject') ?? '';
  if (shape !== 'Table' || value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  const problem = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${problem}`);
}

/** The form the client wants of this resource; 406 when there is none it would take. */
export function acceptedBy(
  { exchange, resource, route }: Pick<Call, 'exchange' | 'resource' | 'route'>,
  offer?: Partial<Offer>,
): Accepted {
  const custom = resource.custom !== undefined;
  if (!custom) checkRoutable(exchange, route.verb === 'list' || route.verb === 'watch');
  const accepted = negotiate(exchange.header('accept'), { shapes: EVERY_SHAPE, custom, ...offer });
  return { ...accepted, pretty: accepted.pretty || wantsPretty(exchange) };
}

export async function sendObject(call: Call, status: number, object: KubeObject): Promise<void> {
  const { cluster, exchange, resource } = call;
  const accepted = acceptedBy(call);
  let shaped: KubeObject | Table = object;
  if (accepted.shape === 'Table') {
    const meta = { resourceVersion: object.metadata.resourceVersion };
    const { version } = accepted;
    const include = includeOf(exchange, accepted);
    const row = await rowOf(resource, object, { version, include, now: cluster.clock.now(), scope: call.scope });
    shaped = { ...emptyTable(resource, meta, version), rows: [row] };
  } else if (accepted.shape === 'PartialObjectMetadata') shaped = partialMetadata(object, accepted.version);
  return sendValue(exchange, status, shaped, accepted);
}

const PRODUCED = ['application/json', 'application/yaml', PROTOBUF_TYPE];
const STREAMED = ['application/json;stream=watch', `${PROTOBUF_TYPE};stream=watch`];

/** The router of the real server looks first, at types alone, and has other words; what is custom is not routed by it. */
function checkRoutable(exchange: Exchange, isList: boolean): void {
  const ranges = parseAccept(exchange.header('accept'));
  if (ranges.length === 0 || ranges.some(({ type }) => type === '*/*' || PRODUCED.includes(type))) return;
  const types = [...PRODUCED, ...(isList ? STREAMED : [])].join(', ');
  const message = `406: Not Acceptable\n\nAvailable representations: ${types}`;
  throw new ApiError(406, 'NotAcceptable', message, {});
}

/** Something with a kind of its own, encoded as accepted. */
export async function sendValue(
  exchange: Exchange,
  status: number,
  value: { kind: string; apiVersion: string },
  { encoding, pretty }: Accepted,
  headers?: Record<string, string>,
): Promise<void> {
  if (encoding === 'yaml') return exchange.send(status, 'application/yaml', await yamlText(value), headers);
  if (encoding === 'protobuf') {
    const { encodeProtobuf } = await import('../codec/protobuf-encoder.ts');
    return exchange.send(status, PROTOBUF_TYPE, encodeProtobuf(value), headers);
  }
  const json = isLargeObject(value)
    ? await inTurns(jsonTextInPieces(value, pretty))
    : JSON.stringify(value, null, pretty ? 2 : undefined);
  const text = pretty ? json : `${json}\n`;
  return exchange.send(status, 'application/json', text, headers);
}

export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { aliasDuplicateObjects: false, sortMapEntries: true });
}

/** A Status has no table; an object kept by finalizers has. */
export function sendStatusOr(call: Call, status: number, result: KubeObject | Status): Promise<void> {
  if (result.kind !== 'Status' || result.apiVersion !== 'v1') return sendObject(call, status, result as KubeObject);
  return sendValue(call.exchange, status, result, statusForm(call.exchange));
}

/** A Status exists for every client: whoever takes no plain object gets it as JSON for people. */
export function statusForm(exchange: Exchange): Accepted {
  const pretty = wantsPretty(exchange);
  try {
    return { ...negotiate(exchange.header('accept'), { shapes: ['object'] }), pretty };
  } catch (error) {
    if (error instanceof ApiError) return { encoding: 'json', shape: 'object', version: 'v1', pretty: true };
    throw error;
  }
}

/** People who look with a browser or from the command line, unless they say otherwise. */
function wantsPretty(exchange: Exchange): boolean {
  const wanted = exchange.query.get('pretty');
  if (wanted) return TRUE.has(wanted);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(exchange.header('user-agent') ?? '');
}

/** What Go takes for true. */
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

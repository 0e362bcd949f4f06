/** How objects go to the wire: in the shape and encoding the client accepts. */
import type { KubeObject } from '../../api/object.ts';
import { negotiate, type Shape } from '../codec/accept.ts';
import { type IncludeObject, partialMetadata, tableOf } from '../codec/shapes.ts';
import { badRequest, type Status } from '../status.ts';
import type { Call } from './call.ts';
import type { Exchange } from './exchange.ts';

export const EVERY_SHAPE: readonly Shape[] = ['object', 'Table', 'PartialObjectMetadata'];

export function includeOf(exchange: Exchange): IncludeObject {
  const value = exchange.query.get('includeObject') ?? '';
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'None' || value === 'Object') return value;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(value)}`);
}

export async function sendObject(call: Call, status: number, object: KubeObject): Promise<void> {
  const { cluster, exchange, resource } = call;
  const accepted = negotiate(exchange.header('accept'), EVERY_SHAPE);
  let shaped: unknown = object;
  if (accepted.shape === 'Table') {
    const meta = { resourceVersion: object.metadata.resourceVersion };
    shaped = tableOf(resource, [object], meta, {
      version: accepted.version,
      include: includeOf(exchange),
      now: cluster.clock.now(),
    });
  } else if (accepted.shape === 'PartialObjectMetadata') shaped = partialMetadata(object, accepted.version);
  return sendValue(exchange, status, shaped, accepted.encoding);
}

export function sendValue(
  exchange: Exchange,
  status: number,
  value: unknown,
  encoding: 'json' | 'yaml',
): Promise<void> {
  if (encoding === 'yaml') return sendYaml(exchange, status, value);
  return exchange.send(status, 'application/json', pretty(exchange, `${JSON.stringify(value)}\n`));
}

export async function sendYaml(exchange: Exchange, status: number, value: unknown): Promise<void> {
  const { stringify } = await import('yaml');
  return exchange.send(status, 'application/yaml', stringify(value, { aliasDuplicateObjects: false }));
}

/** A Status has no table; an object kept by finalizers has. */
export function sendStatusOr(call: Call, status: number, result: KubeObject | Status): Promise<void> {
  if (result.kind !== 'Status' || result.apiVersion !== 'v1') return sendObject(call, status, result as KubeObject);
  const { encoding } = negotiate(call.exchange.header('accept'), EVERY_SHAPE);
  return sendValue(call.exchange, status, result, encoding);
}

export function pretty(exchange: Exchange, json: string): string {
  const wanted = exchange.query.get('pretty');
  return wanted === 'true' || wanted === '1' ? `${JSON.stringify(JSON.parse(json), null, 2)}\n` : json;
}

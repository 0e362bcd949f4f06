/** `/openapi/v2` in the form the client reads: JSON, or the protobuf that client-go asks for. */
import { parseAccept } from '../codec/accept.ts';
import { own } from '../json.ts';
import { openApiV2 } from '../kinds/openapi-v2.ts';
import type { Registry } from '../kinds/registry.ts';
import { notAcceptable } from '../status.ts';
import type { Exchange } from './exchange.ts';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** What clients ask for; it is no valid media type, so the answer is called otherwise. */
const PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const SERVED: Record<string, string> = {
  '*/*': JSON_TYPE,
  'application/*': JSON_TYPE,
  [JSON_TYPE]: JSON_TYPE,
  [PROTOBUF_ASKED]: PROTOBUF_TYPE,
  [PROTOBUF_TYPE]: PROTOBUF_TYPE,
};

export async function serveOpenApiV2(registry: Registry, exchange: Exchange): Promise<void> {
  const asked = parseAccept(exchange.header('accept') || '*/*');
  const type = asked.map((range) => own(SERVED, range.type)).find((found) => found !== undefined);
  if (!type) throw notAcceptable([...new Set(Object.values(SERVED))]);
  const document = await openApiV2(registry);
  const headers = { etag: document.etag, vary: 'Accept' };
  if (isKnown(exchange.header('if-none-match'), document.etag)) return exchange.send(304, type, '', headers);
  const body = type === JSON_TYPE ? document.json.join('') : Buffer.concat(await document.protobuf());
  return exchange.send(200, type, body, headers);
}

/** A client may name several versions it has, or any. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (!header) return false;
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}

/**
 * Kubernetes' protobuf bodies: `k8s\0`, then a runtime.Unknown that names the kind and holds the object. Every Go client
 * sends built-in kinds so. Decoding gives what the same client would have sent as JSON.
 */
import type { KubeObject } from '../../api/object.ts';
import { resourceTable, splitName } from '../kinds/tables.ts';
import { badRequest } from '../status.ts';
import { type Message, messageOf, readMessage } from './protobuf-message.ts';
import { MalformedError, Reader } from './protobuf-reader.ts';

export const MAGIC = Buffer.from('k8s\0', 'latin1');
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Kinds of meta/v1 that are registered in every group: clients send them under the group of the resource. */
const EVERYWHERE = new Set([
  'DeleteOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
  'ListOptions',
  'GetOptions',
  'Status',
]);

/** Throws ApiError 400 for anything that is not a well-formed body of a built-in kind. */
export function decodeProtobuf(body: Buffer): KubeObject {
  if (body.length === 0) throw badRequest('empty data');
  if (!MAGIC.equals(body.subarray(0, MAGIC.length))) {
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  try {
    return decode(body);
  } catch (error) {
    if (error instanceof MalformedError) throw badRequest(error.message);
    throw error;
  }
}

function decode(body: Buffer): KubeObject {
  const { apiVersion, kind, raw } = readEnvelope(body);
  if (!kind) throw badRequest("Object 'Kind' is missing in the protobuf body");
  if (!apiVersion) throw badRequest("Object 'apiVersion' is missing in the protobuf body");
  const message = messageOfKind(apiVersion, kind);
  if (!message)
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  const object = { apiVersion, kind } as KubeObject;
  readMessage(new Reader(raw, 0), message, object, 0);
  // Some messages carry an inlined TypeMeta of their own; the envelope's word counts.
  object.apiVersion = apiVersion;
  object.kind = kind;
  return object;
}

/** runtime.Unknown: 1 typeMeta {1 apiVersion, 2 kind}, 2 raw. */
function readEnvelope(body: Buffer): { apiVersion: string; kind: string; raw: Buffer } {
  const envelope = { apiVersion: '', kind: '', raw: Buffer.alloc(0) };
  const reader = new Reader(body, MAGIC.length);
  while (reader.position < reader.end) {
    const tag = reader.uint32();
    if (tag === 0x0a) {
      const meta = new Reader(reader.bytes(), 0);
      while (meta.position < meta.end) {
        const inner = meta.uint32();
        if (inner === 0x0a) envelope.apiVersion = meta.string();
        else if (inner === 0x12) envelope.kind = meta.string();
        else meta.skip(inner & 7);
      }
    } else if (tag === 0x12) envelope.raw = reader.bytes() as typeof envelope.raw;
    else reader.skip(tag & 7);
  }
  return envelope;
}

let packages: Map<string, string> | undefined;

export function messageOfKind(apiVersion: string, kind: string): Message | undefined {
  packages ??= packagesByVersion();
  const prefix = packages.get(apiVersion);
  const own = prefix && /^\w+$/.test(kind) ? messageOf(`${prefix}.${kind}`) : undefined;
  return own ?? (EVERYWHERE.has(kind) ? messageOf(`${META}.${kind}`) : undefined);
}

function packagesByVersion(): Map<string, string> {
  const result = new Map([
    ['meta.k8s.io/v1', META],
    ['meta.k8s.io/v1beta1', META],
  ]);
  for (const row of resourceTable().resources) {
    result.set(row.group ? `${row.group}/${row.version}` : row.version, splitName(row.definition)[0]);
  }
  return result;
}

/** Request bodies: JSON, YAML and protobuf become plain values; whatever cannot be read is a 400, never a crash. */
import type { KubeObject } from '../../api/object.ts';
import { NO_SUBJECT, offload, offloadNow } from '../offload/offload.ts';
import type { RequestScope } from '../request-scope.ts';
import { ApiError, badRequest, unsupportedMediaType } from '../status.ts';
import { inTurns, isLarge } from '../turns.ts';
import { duplicateKeys, keyPlaces } from './duplicate-keys.ts';
import { type JsonRead, jsonInPieces, NotJson, TooDeep } from './json-pieces.ts';
import { jsonProblem } from './json-problem.ts';
import { readYaml, type YamlRead } from './yaml.ts';

/** As upstream: 3 MiB. */
export const BODY_LIMIT = 3 * 1024 * 1024;
/** Deeper documents are refused: nothing real is, and recursion over them must stay safe. */
const DEPTH_LIMIT = 200;

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const OBJECT_TYPES = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];

export interface Decoded {
  value: unknown;
  /** Paths of keys that stand twice in the text. */
  duplicates: string[];
  /** The same of a YAML text, as its reader words it: by line. */
  repetitions?: string[];
  /** Where a key stands in a JSON text, each time it does. */
  placesOf?(path: string): number[];
}

export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Decodes an object sent with POST, PUT or DELETE. `scope`: the request it is done for. */
export async function decodeObject(
  body: Buffer,
  contentType: string | undefined,
  scope?: RequestScope,
): Promise<Decoded> {
  const type = mediaType(contentType) || JSON_TYPE;
  switch (type) {
    case JSON_TYPE:
      return decodeJson(body, scope);
    case YAML_TYPE:
      return decodeYaml(body, scope);
    case PROTOBUF_TYPE:
      return decodeProtobufBody(body, scope);
    default:
      throw unsupportedMediaType(OBJECT_TYPES);
  }
}

export async function decodeJson(body: Buffer, scope?: RequestScope): Promise<Decoded> {
  const text = utf8(body);
  if (isLarge(text.length)) return decodeLargeJson(text, scope);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notJson(jsonProblem(text, error as Error));
  }
  return checked(value, text);
}

function notJson(problem: string): ApiError {
  return badRequest(`couldn't get version/kind; json parse error: ${problem}`);
}

function checked(value: unknown, text: string): Decoded {
  checkDepth(value, 0);
  return { value, duplicates: duplicateKeys(text), placesOf: places(text) };
}

async function decodeLargeJson(text: string, scope: RequestScope | undefined): Promise<Decoded> {
  const read = await jsonValue(text, scope);
  if (!read) throw notJson(await offloadNow('jsonProblem', [NO_SUBJECT, text], scope));
  return text.length <= PLACES_LIMIT ? { ...read, placesOf: places(text) } : read;
}

/** In turns of the event loop. Undefined where the text is no JSON. */
async function jsonValue(text: string, scope: RequestScope | undefined): Promise<JsonRead | undefined> {
  try {
    return await inTurns(jsonInPieces(text, DEPTH_LIMIT), scope);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    if (error instanceof TooDeep) throw badRequest('exceeded max depth');
    throw error;
  }
}

async function decodeProtobufBody(body: Buffer, scope: RequestScope | undefined): Promise<Decoded> {
  if (isLarge(body.length)) {
    const json = await offloadNow('protobuf', [NO_SUBJECT, body], scope);
    return { value: (await jsonValue(json, scope))?.value, duplicates: [] };
  }
  const { decodeProtobuf } = await import('./protobuf.ts');
  return { value: decodeProtobuf(body) satisfies KubeObject, duplicates: [] };
}

/** Of a larger text nobody is told the order of what is wrong with it: finding that out takes too long. */
const PLACES_LIMIT = 256 * 1024;

/** Looked for when first asked: most bodies have nothing wrong with them. */
function places(text: string): (path: string) => number[] {
  let found: Map<string, number[]> | undefined;
  return (path) => {
    found ??= keyPlaces(text);
    return found.get(path) ?? [];
  };
}

/** As much YAML is read on the main thread, which is metered. */
const SHORT_YAML = 16 * 1024;

export async function decodeYaml(body: Buffer, scope?: RequestScope): Promise<Decoded> {
  const text = utf8(body);
  const decoded = await yamlThatIsJson(text, scope);
  if (decoded) return decoded;
  const yaml = await import('yaml');
  // biome-ignore lint/correctness/useYield: a text that takes long is offloaded
  function* read(): Generator<void, YamlRead> {
    return readYaml(yaml, text, DEPTH_LIMIT);
  }
  const args: [object, string, number] = [NO_SUBJECT, text, DEPTH_LIMIT];
  const { json, ...repeated } =
    text.length > SHORT_YAML ? await offloadNow('yaml', args, scope) : await offload(read(), 'yaml', args, { scope });
  if (isLarge(json.length)) return { value: (await jsonValue(json, scope))?.value, ...repeated };
  const value: unknown = JSON.parse(json);
  checkDepth(value, 0);
  return { value, ...repeated };
}

/** Most clients send JSON and call it YAML, which it is; reading it as what it is is faster by far. */
async function yamlThatIsJson(text: string, scope: RequestScope | undefined): Promise<Decoded | undefined> {
  if (!text.startsWith('{')) return undefined;
  let decoded: Decoded | undefined;
  if (isLarge(text.length)) decoded = await jsonValue(text, scope);
  else {
    try {
      decoded = checked(JSON.parse(text), text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  // Of keys that stand twice, the reader of YAML says the lines.
  return decoded && decoded.duplicates.length === 0 ? decoded : undefined;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function utf8(body: Buffer): string {
  try {
    return decoder.decode(body);
  } catch {
    throw badRequest('the body of the request is not valid UTF-8');
  }
}

function checkDepth(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEPTH_LIMIT) throw badRequest('exceeded max depth');
  if (Array.isArray(value)) for (const item of value) checkDepth(item, depth + 1);
  else for (const key in value) checkDepth((value as Record<string, unknown>)[key], depth + 1);
}

/** The body as an object of some kind; anything else is a 400 as upstream words it. */
export function asObject(value: unknown): KubeObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError(
      400,
      'BadRequest',
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  return value as KubeObject;
}

/** What encoding/json calls it. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

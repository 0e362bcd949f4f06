/** Request bodies: JSON, YAML and protobuf become plain values; whatever cannot be read is a 400, never a crash. */
import type { KubeObject } from '../../api/object.ts';
import { ApiError, badRequest, unsupportedMediaType } from '../status.ts';
import { yieldTurn } from '../turns.ts';
import { duplicateKeys, keyPlaces } from './duplicate-keys.ts';
import { jsonProblem } from './json-problem.ts';
import { yamlTokens } from './yaml-tokens.ts';

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

/** Decodes an object sent with POST, PUT or DELETE. */
export async function decodeObject(body: Buffer, contentType: string | undefined): Promise<Decoded> {
  const type = mediaType(contentType) || JSON_TYPE;
  switch (type) {
    case JSON_TYPE:
      return decodeJson(body);
    case YAML_TYPE:
      return decodeYaml(body);
    case PROTOBUF_TYPE: {
      const { decodeProtobuf } = await import('./protobuf.ts');
      return { value: decodeProtobuf(body) satisfies KubeObject, duplicates: [] };
    }
    default:
      throw unsupportedMediaType(OBJECT_TYPES);
  }
}

export async function decodeJson(body: Buffer): Promise<Decoded> {
  const text = utf8(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonProblem(text, error as Error)}`);
  }
  return checked(value, text);
}

async function checked(value: unknown, text: string): Promise<Decoded> {
  await yieldTurn(text.length);
  checkDepth(value, 0);
  const duplicates = duplicateKeys(text);
  await yieldTurn(text.length);
  return { value, duplicates, ...(text.length <= PLACES_LIMIT ? { placesOf: places(text) } : {}) };
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

/** YAML 1.1 as Kubernetes reads it (`yes` is a boolean), one document, no alias bombs. Loaded when first needed. */
export async function decodeYaml(body: Buffer): Promise<Decoded> {
  const text = utf8(body);
  const json = quickJson(text);
  if (json !== undefined) {
    const decoded = await checked(json, text);
    if (decoded.duplicates.length === 0) return decoded;
  }
  const { Composer } = await import('yaml');
  const tokens = await yamlTokens(text, DEPTH_LIMIT);
  await yieldTurn(text.length);
  const options = { version: '1.1', uniqueKeys: false, strict: true, merge: true } as const;
  const [document, another] = [...new Composer(options).compose(tokens, true, text.length)];
  const problem = document?.errors[0]?.message ?? (another ? 'more than one document' : undefined);
  if (!document || problem) throw badRequest(`error converting YAML to JSON: yaml: ${problem ?? 'no document'}`);
  await yieldTurn(text.length);
  let value: unknown;
  try {
    value = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100 })) ?? 'null');
  } catch (cause) {
    throw badRequest(`error converting YAML to JSON: yaml: ${(cause as Error).message}`);
  }
  checkDepth(value, 0);
  await yieldTurn(text.length);
  return { value, ...(await yamlDuplicates(document.contents, text)) };
}

/** Most clients send JSON and call it YAML, which it is; reading it as what it is is faster by far. */
function quickJson(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function yamlDuplicates(root: unknown, text: string): Promise<Omit<Decoded, 'value'>> {
  const { isMap, isScalar, isSeq } = await import('yaml');
  const found = new Set<string>();
  const repetitions: string[] = [];
  const lineAt = lineCounter(text);
  const visit = (node: unknown, path: string): void => {
    if (isMap(node)) {
      const seen = new Set<string>();
      for (const pair of node.items) {
        const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
        const at = path ? `${path}.${key}` : key;
        if (seen.has(key)) {
          found.add(at);
          const line = lineAt(isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0);
          repetitions.push(`line ${line}: key ${JSON.stringify(key)} already set in map`);
        }
        seen.add(key);
        visit(pair.value, at);
      }
    } else if (isSeq(node)) node.items.forEach((item, index) => void visit(item, `${path}[${index}]`));
  };
  visit(root, '');
  return { duplicates: [...found], repetitions };
}

/** Asked in the order of the text, it reads the text once. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let at = 0;
  return (offset) => {
    for (; at < offset; at++) if (text.charCodeAt(at) === 0x0a) line++;
    return line;
  };
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

/** A request for a resource, and how its body and parameters are read. */
import type { KubeObject } from '../../api/object.ts';
import type { Identity } from '../auth/identity.ts';
import type { Cluster } from '../cluster.ts';
import { asObject, decodeJson, decodeObject, decodeYaml, jsonType, mediaType } from '../codec/body.ts';
import { notRegistered } from '../handlers/conform.ts';
import { own } from '../json.ts';
import { definitionOfKind } from '../kinds/component-name.ts';
import { definition } from '../kinds/definition.ts';
import type { DeleteOptions, Patch, WriteOptions } from '../operations.ts';
import type { RequestScope } from '../request-scope.ts';
import type { Resource } from '../resource.ts';
import { checkTypes } from '../schema/check-types.ts';
import { ApiError, badRequest, type FieldError, field, unsupportedMediaType } from '../status.ts';
import { BodyBudget } from './body-budget.ts';
import type { Exchange } from './exchange.ts';
import { parseInteger } from './list-options.ts';
import { isTrue, type ResourceRoute } from './route.ts';
import { checkDeletion, writeOptions } from './write-options.ts';

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

export interface Call {
  cluster: Cluster;
  exchange: Exchange;
  route: ResourceRoute;
  resource: Resource;
  identity: Identity;
  scope: RequestScope;
  signal: AbortSignal;
}

/** Of all servers of the process: they share its memory. */
const budget = new BodyBudget();

function readBody({ exchange, scope }: Call): Promise<Buffer> {
  return exchange.body((bytes) => budget.take(scope, bytes));
}

export async function readWrite(call: Call): Promise<{ object: KubeObject; options: WriteOptions }> {
  const { exchange } = call;
  const options = writeOptions(call);
  const body = await readBody(call);
  try {
    const decoded = await decodeObject(body, exchange.header('content-type'), call.scope);
    const { value, duplicates, repetitions, placesOf } = decoded;
    return { object: asObject(value), options: { ...options, duplicates, repetitions, placesOf, size: body.length } };
  } catch (error) {
    throw unrecognized(error, call.resource.kind, body);
  }
}

/** A body nobody can make an object of: what it should have been, and how it begins. */
function unrecognized(error: unknown, kind: string, body: Buffer): unknown {
  if (!(error instanceof ApiError) || !error.message.startsWith("couldn't get version/kind")) return error;
  const text = body.toString(body[0] === 0x7b ? 'utf8' : 'hex', 0, SUMMARY_BYTES);
  const summary = body.length === 0 ? '<empty>' : body.length > SUMMARY_BYTES ? `${text} ...` : text;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${error.message} (${summary})`);
}

const SUMMARY_BYTES = 30;

/** The body of a verb that stores no object of its own: of the kind it has to be, its fields of the right types. */
export async function readOperand(call: Call, { group = '', version = '', kind = '' }: Partial<GroupVersionKind>) {
  const { object, options } = await readWrite(call);
  checkOperand(object, definitionOfKind(group, version, kind), kind);
  return { object, options };
}

/** Throws unless the fields of an object that is not stored itself have the right types. */
export function checkOperand(object: KubeObject, name: string | undefined, kind: string): void {
  if (!name) return;
  try {
    checkTypes(object, definition(name), kind);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${error.message}`);
  }
}

const PATCH_TYPES: Record<string, Patch['type']> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** There is no strategic merge for kinds whose merge keys nobody declared. */
const CUSTOM_PATCH_TYPES = Object.keys(PATCH_TYPES).filter((type) => PATCH_TYPES[type] !== 'strategic');

export async function readPatch(call: Call): Promise<{ patch: Patch; options: WriteOptions }> {
  const { exchange, resource } = call;
  const type = own(PATCH_TYPES, mediaType(exchange.header('content-type')));
  if (!type) throw resource.custom ? unsupportedMediaType(CUSTOM_PATCH_TYPES) : unroutableMediaType();
  const force = exchange.query.get('force');
  const errors: FieldError[] = [];
  if (type === 'apply' && !exchange.query.get('fieldManager')) {
    errors.push(field.required('fieldManager', 'is required for apply patch'));
  }
  if (type !== 'apply' && force !== null) {
    errors.push(field.forbidden('force', 'may not be specified for non-apply patch'));
  }
  const options = writeOptions(call, errors);
  const body = await readBody(call);
  const { value, duplicates, repetitions } =
    type === 'apply' ? await decodeYaml(body, call.scope) : await decodeJson(body, call.scope);
  if (type === 'apply') asObject(value);
  else if (type !== 'json' && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`,
    );
  }
  return {
    patch: { type, body: value, force: isTrue(force) },
    options: { ...options, duplicates: repetitions ?? duplicates, size: body.length },
  };
}

/** Where built-in kinds are concerned, the router of the real server refuses it, before anything reads it. */
function unroutableMediaType(): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** What the body says counts; without one, the query. */
export async function readDelete(call: Call): Promise<{ deletion: DeleteOptions; options: WriteOptions }> {
  const { exchange } = call;
  const body = await readBody(call);
  const deletion = body.length > 0 ? await deletionInBody(call, body) : deletionInQuery(exchange.query);
  checkDeletion(call, deletion);
  return { deletion, options: { ...writeOptions(call), dryRun: (deletion.dryRun?.length ?? 0) > 0 } };
}

type Deletion = DeleteOptions & { dryRun?: string[] };

async function deletionInBody({ exchange, scope }: Call, body: Buffer): Promise<Deletion> {
  const decoded = await decodeObject(body, exchange.header('content-type'), scope);
  const { kind, apiVersion, ...deletion } = asObject(decoded.value) as KubeObject & Deletion;
  if (kind && kind !== 'DeleteOptions') throw badRequest(notRegistered(apiVersion, kind));
  try {
    checkTypes(deletion, definition(DELETE_OPTIONS), 'DeleteOptions');
  } catch (error) {
    if (error instanceof TypeError) throw badRequest(error.message);
    throw error;
  }
  return deletion;
}

function deletionInQuery(query: URLSearchParams): Deletion {
  const deletion: Deletion = { dryRun: query.getAll('dryRun') };
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null) deletion.gracePeriodSeconds = parseInteger(grace);
  const policy = query.get('propagationPolicy');
  if (policy !== null) deletion.propagationPolicy = policy as DeleteOptions['propagationPolicy'];
  if (query.has('orphanDependents')) deletion.orphanDependents = isTrue(query.get('orphanDependents'));
  return deletion;
}

/** A request for a resource, and how its body and parameters are read. */
import type { KubeObject } from '../../api/object.ts';
import type { Identity } from '../auth/identity.ts';
import type { Cluster } from '../cluster.ts';
import { asObject, decodeJson, decodeObject, decodeYaml, mediaType } from '../codec/body.ts';
import { definitionOfKind } from '../kinds/component-name.ts';
import { definition } from '../kinds/definition.ts';
import type { DeleteOptions, Patch, WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { checkTypes } from '../schema/check-types.ts';
import { badRequest, field, invalid, unsupportedMediaType } from '../status.ts';
import type { Exchange } from './exchange.ts';
import { parseInteger } from './list-options.ts';
import type { ResourceRoute } from './route.ts';

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
  signal: AbortSignal;
}

export async function readWrite(call: Call): Promise<{ object: KubeObject; options: WriteOptions }> {
  const { exchange } = call;
  const options = writeOptions(call);
  const body = await exchange.body();
  const { value, duplicates } = await decodeObject(body, exchange.header('content-type'));
  return { object: asObject(value), options: { ...options, duplicates, size: body.length } };
}

/** The body of a verb that stores no object of its own: of the kind it has to be, its fields of the right types. */
export async function readOperand(call: Call, { group = '', version = '', kind = '' }: Partial<GroupVersionKind>) {
  const { object, options } = await readWrite(call);
  checkOperand(object, definitionOfKind(group, version, kind), kind);
  return { object, options };
}

function checkOperand(object: KubeObject, name: string | undefined, kind: string): void {
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

export async function readPatch(call: Call): Promise<{ patch: Patch; options: WriteOptions }> {
  const { exchange } = call;
  const type = PATCH_TYPES[mediaType(exchange.header('content-type'))];
  if (!type) throw unsupportedMediaType(Object.keys(PATCH_TYPES));
  const force = exchange.query.get('force');
  if (force !== null && type !== 'apply') {
    throw invalid('meta.k8s.io', 'PatchOptions', '', [
      field.forbidden('force', 'may not be specified for non-apply patch'),
    ]);
  }
  const options = writeOptions(call);
  if (type === 'apply' && !exchange.query.get('fieldManager')) {
    throw invalid('meta.k8s.io', 'PatchOptions', '', [field.required('fieldManager', 'is required for apply patch')]);
  }
  const body = await exchange.body();
  const { value, duplicates, repetitions } = type === 'apply' ? await decodeYaml(body) : await decodeJson(body);
  if (type !== 'json') asObject(value);
  return {
    patch: { type, body: value, force: force !== null && force !== 'false' },
    options: { ...options, duplicates: repetitions ?? duplicates, size: body.length },
  };
}

export async function readDelete(call: Call): Promise<{ deletion: DeleteOptions; options: WriteOptions }> {
  const { exchange } = call;
  const options = writeOptions(call);
  const body = await exchange.body();
  const { query } = exchange;
  const deletion: DeleteOptions & { dryRun?: string[] } = {};
  if (body.length > 0) {
    const value = asObject((await decodeObject(body, exchange.header('content-type'))).value) as KubeObject &
      DeleteOptions;
    if (value.kind && value.kind !== 'DeleteOptions') throw badRequest(`expected DeleteOptions, got ${value.kind}`);
    checkOperand(value, DELETE_OPTIONS, 'DeleteOptions');
    Object.assign(deletion, value);
  }
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null) deletion.gracePeriodSeconds = parseInteger(grace);
  if (query.has('propagationPolicy'))
    deletion.propagationPolicy = query.get('propagationPolicy') as DeleteOptions['propagationPolicy'];
  if (query.has('orphanDependents')) deletion.orphanDependents = query.get('orphanDependents') === 'true';
  if (deletion.dryRun?.length) options.dryRun = checkDryRun(deletion.dryRun);
  return { deletion, options };
}

function writeOptions({ exchange, identity }: Call): WriteOptions {
  const { query } = exchange;
  const manager = query.get('fieldManager');
  if (manager && (manager.length > 128 || /[^\x20-\x7e]/.test(manager))) {
    throw invalid('meta.k8s.io', 'CreateOptions', '', [
      field.invalid('fieldManager', manager, 'may not be more than 128 bytes and must be printable'),
    ]);
  }
  const validation = query.get('fieldValidation') || undefined;
  if (validation && !['Ignore', 'Warn', 'Strict'].includes(validation)) {
    throw invalid('meta.k8s.io', 'CreateOptions', '', [
      field.notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']),
    ]);
  }
  return {
    identity,
    dryRun: checkDryRun(query.getAll('dryRun')),
    ...(manager ? { requestedManager: manager } : {}),
    fieldManager: manager || (exchange.header('user-agent') ?? '').split('/', 1)[0]?.slice(0, 128) || 'unknown',
    fieldValidation: validation as WriteOptions['fieldValidation'],
    warnings: exchange.warnings,
  };
}

function checkDryRun(values: string[]): boolean {
  const wanted = values.filter((value) => value !== '');
  for (const value of wanted) {
    if (value !== 'All')
      throw invalid('meta.k8s.io', 'CreateOptions', '', [field.notSupported('dryRun', value, ['All'])]);
  }
  return wanted.length > 0;
}

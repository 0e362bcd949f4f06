/** Makes a decoded body an object of a resource: the right kind, the right types, unknown fields dropped and reported. */
import type { KubeObject } from '../../api/object.ts';
import { jsonType } from '../codec/body.ts';
import { definitionOfKind } from '../kinds/component-name.ts';
import type { WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { checkTypes } from '../schema/check-types.ts';
import { prune } from '../schema/prune.ts';
import { type ApiError, badRequest, field, invalid } from '../status.ts';
import { isLarge, yieldTurn } from '../turns.ts';
import { servedApiVersion } from './stored-form.ts';

/** Fills in absent apiVersion and kind; refuses other ones, as decoding into a known type does. */
export function checkKind(resource: Resource, object: KubeObject): void {
  const expected = servedApiVersion(resource);
  for (const key of ['apiVersion', 'kind'] as const) {
    const value: unknown = object[key];
    if (value === null) delete (object as Partial<KubeObject>)[key];
    else if (value !== undefined && typeof value !== 'string') {
      throw badRequest(
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(value)} into Go struct field .${key} of type string`,
      );
    }
  }
  if (object.kind !== undefined && object.kind !== '' && object.kind !== resource.kind) {
    const why = otherKind(resource, object.apiVersion, object.kind);
    throw badRequest(
      `${object.kind} in version ${JSON.stringify(versionOf(object.apiVersion))} cannot be handled as a ${resource.kind}: ${why}`,
    );
  }
  if (!resource.custom && object.apiVersion && object.kind && !isRegistered(object.apiVersion, object.kind)) {
    const version = JSON.stringify(versionOf(object.apiVersion));
    const why = notRegistered(object.apiVersion, object.kind);
    throw badRequest(`${object.kind} in version ${version} cannot be handled as a ${resource.kind}: ${why}`);
  }
  if (object.apiVersion !== undefined && object.apiVersion !== '' && object.apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  object.apiVersion = expected;
  object.kind = resource.kind;
  if (object.metadata === undefined || object.metadata === null) object.metadata = {};
}

/** The file is where the real server makes its list of kinds; it says so in this message. */
export function notRegistered(apiVersion: string | undefined, kind: string): string {
  const names = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? '')}`;
  return `${names} in scheme "pkg/runtime/scheme.go:111"`;
}

/** A kind there is, but another one, cannot be made into this one; by the names of Go's packages. */
function otherKind(resource: Resource, apiVersion: string | undefined, kind: string): string {
  if (resource.custom || !apiVersion || !isRegistered(apiVersion, kind)) return notRegistered(apiVersion, kind);
  const target = resource.group.split('.')[0] || 'core';
  return `converting (${versionOf(apiVersion)}.${kind}) to (${target}.${resource.kind}): unknown conversion`;
}

function isRegistered(apiVersion: string, kind: string): boolean {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
  return definitionOfKind(group ?? '', version ?? '', kind) !== undefined;
}

/**
 * Checks the types and drops unknown fields, in place. What was dropped or stood twice is an error, a warning or
 * nothing, by `fieldValidation` (default Warn).
 */
export async function conform(
  resource: Resource,
  object: KubeObject,
  options: WriteOptions,
  duplicates: string[] = [],
  source: 'body' | 'patch' | 'apply' = 'body',
): Promise<void> {
  let unknown: string[];
  try {
    if (resource.custom) unknown = resource.custom.prune(object);
    else {
      checkTypes(object, resource.schema());
      if (isLarge(options.size)) await yieldTurn(options.size, options.scope);
      unknown = prune(object, resource.schema());
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw refusal(resource, object, error.message, source);
  }
  if (unknown.length === 0 && duplicates.length === 0) return;
  const validation = options.fieldValidation ?? 'Warn';
  if (validation === 'Ignore') return;
  const problems =
    source === 'apply' ? appliedProblems(unknown, duplicates) : bodyProblems(unknown, duplicates, options);
  if (validation === 'Warn') {
    // One by one: there may be more of them than a call takes arguments.
    for (const problem of problems) options.warnings?.push(problem);
    return;
  }
  const text = `${source === 'apply' ? 'error strict decoding YAML' : 'strict decoding error'}: ${problems.join(', ')}`;
  throw refusal(resource, object, text, source);
}

function appliedProblems(unknown: string[], duplicates: string[]): string[] {
  return [...unknown.map((path) => `unknown field ${JSON.stringify(path)}`), ...yamlProblem(duplicates)];
}

/** As they stand in the text; of YAML, its reader comes first. */
function bodyProblems(unknown: string[], duplicates: string[], { repetitions, placesOf }: WriteOptions): string[] {
  const strange = unknown.map((path) => ({
    text: `unknown field ${JSON.stringify(path)}`,
    at: placesOf?.(path)[0] ?? 0,
  }));
  if (repetitions?.length) {
    const lines = repetitions.map((line) => `  ${line}`);
    return [['yaml: unmarshal errors:', ...lines].join('\n'), ...strange.map(({ text }) => text)];
  }
  const repeated = duplicates.map((path) => ({
    text: `duplicate field ${JSON.stringify(path)}`,
    at: placesOf?.(path)[1] ?? 0,
  }));
  const all = [...strange, ...repeated];
  return (placesOf ? all.sort((a, b) => a.at - b.at) : all).map(({ text }) => text);
}

/** Of an applied configuration only repeated keys are left to complain about, in the words of the YAML reader. */
function yamlProblem(repetitions: string[]): string[] {
  if (repetitions.length === 0) return [];
  const lines = repetitions.map((line) => `  ${line}`);
  return [['error converting YAML to JSON: yaml: unmarshal errors:', ...lines].join('\n')];
}

/** A body that cannot be decoded is a bad request; a patch whose result cannot be is invalid. */
function refusal(resource: Resource, object: KubeObject, text: string, source: 'body' | 'patch' | 'apply'): ApiError {
  if (source === 'patch') return invalid('', '', '', [field.invalid('patch', JSON.stringify(object), text)]);
  if (source === 'apply') return badRequest(text);
  const version = JSON.stringify(resource.version);
  return badRequest(`${resource.kind} in version ${version} cannot be handled as a ${resource.kind}: ${text}`);
}

function versionOf(apiVersion: string | undefined): string {
  return (apiVersion ?? '').split('/').pop() ?? '';
}

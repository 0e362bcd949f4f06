/** What expressions of admission see: the objects of a request, the request itself, and whoever makes it. */
import type { Attributes, Authorizer, Identity } from '../auth/identity.ts';
import { type Environment, extend, type FieldsOf } from './check/environment.ts';
import { DYN, parseType, type Type } from './check/type.ts';
import { baseEnvironment, compile, type Program } from './engine.ts';
import { AuthorizerValue, ResourceCheck } from './library/authorizer.ts';
import type { Variables } from './run/frame.ts';
import { PlanError } from './run/plan.ts';
import { CompileError } from './syntax/issue.ts';
import { jsonValue } from './values/json.ts';
import { CelError, type Value } from './values/value.ts';

const STRINGS = 'list(string)';
const GROUP_VERSION = { group: 'string', version: 'string' };

const OBJECTS: Record<string, Record<string, string>> = {
  'kubernetes.GroupVersionKind': { ...GROUP_VERSION, kind: 'string' },
  'kubernetes.GroupVersionResource': { ...GROUP_VERSION, resource: 'string' },
  'kubernetes.UserInfo': { username: 'string', uid: 'string', groups: STRINGS, extra: `map(string, ${STRINGS})` },
  'kubernetes.AdmissionRequest': {
    kind: 'kubernetes.GroupVersionKind',
    resource: 'kubernetes.GroupVersionResource',
    subResource: 'string',
    requestKind: 'kubernetes.GroupVersionKind',
    requestResource: 'kubernetes.GroupVersionResource',
    requestSubResource: 'string',
    name: 'string',
    namespace: 'string',
    operation: 'string',
    userInfo: 'kubernetes.UserInfo',
    dryRun: 'bool',
    options: 'dyn',
  },
  'kubernetes.NamespaceSpec': { finalizers: STRINGS },
  'kubernetes.NamespaceCondition': {
    status: 'string',
    type: 'string',
    lastTransitionTime: 'timestamp',
    message: 'string',
    reason: 'string',
  },
  'kubernetes.NamespaceStatus': { conditions: 'list(kubernetes.NamespaceCondition)', phase: 'string' },
  'kubernetes.NamespaceMetadata': {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    labels: 'map(string, string)',
    annotations: 'map(string, string)',
    UID: 'string',
    creationTimestamp: 'timestamp',
    deletionGracePeriodSeconds: 'int',
    deletionTimestamp: 'timestamp',
    generation: 'int',
    resourceVersion: 'string',
    finalizers: STRINGS,
  },
  'kubernetes.Namespace': {
    metadata: 'kubernetes.NamespaceMetadata',
    spec: 'kubernetes.NamespaceSpec',
    status: 'kubernetes.NamespaceStatus',
  },
};

let fields: Map<string, ReadonlyMap<string, Type>> | undefined;

const fieldsOf: FieldsOf = (name) => {
  fields ??= new Map(
    Object.entries(OBJECTS).map(([object, own]) => [
      object,
      new Map(Object.entries(own).map(([field, type]) => [field, parseType(type)])),
    ]),
  );
  return fields.get(name);
};

export interface AdmissionOptions {
  params?: boolean;
  authorizer?: boolean;
}

const known = new Map<string, Environment>();

export function admissionEnvironment({ params = false, authorizer = false }: AdmissionOptions): Environment {
  const key = `${params}${authorizer}`;
  let env = known.get(key);
  if (!env) {
    const variables: Record<string, Type> = {
      object: DYN,
      oldObject: DYN,
      namespaceObject: parseType('kubernetes.Namespace'),
      request: parseType('kubernetes.AdmissionRequest'),
    };
    if (params) variables.params = DYN;
    if (authorizer) {
      variables.authorizer = parseType('kubernetes.authorization.Authorizer');
      variables['authorizer.requestResource'] = parseType('kubernetes.authorization.ResourceCheck');
    }
    env = extend(baseEnvironment(), variables, fieldsOf);
    known.set(key, env);
  }
  return env;
}

/** JSON as the API has it; absent values are null in expressions. */
export interface Admission {
  object?: unknown;
  oldObject?: unknown;
  /** The AdmissionRequest, without `object` and `oldObject`. */
  request?: unknown;
  namespaceObject?: unknown;
  params?: unknown;
  /** Who may do what, for `authorizer`. */
  authorizer?: Authorizer;
  identity?: Identity;
}

const NO_AUTHORIZER = new CelError('no such attribute(s): authorizer');

export function admissionVariables(admission: Admission): Variables {
  const made = new Map<string, Value>();
  const make = (name: string): Value | undefined => {
    switch (name) {
      case 'object':
      case 'oldObject':
      case 'request':
      case 'namespaceObject':
      case 'params':
        return jsonValue(admission[name] ?? null);
      case 'authorizer':
        return authorizerOf(admission) ?? NO_AUTHORIZER;
      case 'authorizer.requestResource': {
        const who = authorizerOf(admission);
        return who ? new ResourceCheck(who, requestResource(admission.request)) : NO_AUTHORIZER;
      }
      default:
        return undefined;
    }
  };
  return (name) => {
    let value = made.get(name);
    if (value === undefined) {
      value = make(name);
      if (value !== undefined) made.set(name, value);
    }
    return value;
  };
}

function authorizerOf({ authorizer, identity }: Admission): AuthorizerValue | undefined {
  return authorizer && identity && new AuthorizerValue(identity, authorizer);
}

function requestResource(request: unknown): Omit<Attributes, 'verb'> {
  const { resource, subResource, namespace, name } = (request ?? {}) as {
    resource?: { group?: string; resource?: string };
    subResource?: string;
    namespace?: string;
    name?: string;
  };
  return {
    group: resource?.group ?? '',
    version: '*',
    resource: resource?.resource,
    subresource: subResource,
    namespace,
    name,
  };
}

/** Throws an Error in upstream's words; `types` are those the expression may have, any where there are none. */
export function compileAdmission(source: string, env: Environment, types?: readonly Type[]): Program {
  let program: Program;
  try {
    program = compile(source, env);
  } catch (error) {
    if (error instanceof CompileError) throw new Error(`compilation failed: ${error.message}`);
    if (error instanceof PlanError) throw new Error(`program instantiation failed: ${error.message}`);
    throw error;
  }
  const { type } = program.checked;
  if (!types || types.some((each) => each.equals(type))) return program;
  const got = type.kind === 'null' ? type.name : String(type);
  if (types.length === 1) throw new Error(`must evaluate to ${types[0]} but got ${got}`);
  throw new Error(`must evaluate to one of [${types.map((each) => each.name).join(' ')}] but got ${got}`);
}

/** Paths and operations of one resource. Each operation names its kind: that is how clients find it. */
import type { Resource, Subresource } from '../resource.ts';
import { isBuiltin, returnsDeleted } from './builtin.ts';
import { componentName, definitionOfKind, listComponentName } from './component-name.ts';
import { reference } from './openapi-components.ts';
import * as parameters from './openapi-parameters.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const TEXT = { type: 'string' };
const STRATEGIC = 'application/strategic-merge-patch+json';

type Verb = 'list' | 'create' | 'deletecollection' | 'get' | 'update' | 'patch' | 'delete';

/** HTTP method, `x-kubernetes-action`, and how the operation's id begins. */
const VERBS: Record<Verb, [method: string, action: string, id: string]> = {
  list: ['get', 'list', 'list'],
  create: ['post', 'post', 'create'],
  deletecollection: ['delete', 'deletecollection', 'delete'],
  get: ['get', 'get', 'read'],
  update: ['put', 'put', 'replace'],
  patch: ['patch', 'patch', 'patch'],
  delete: ['delete', 'delete', 'delete'],
};

/** What the operations of one path are about. */
interface Target {
  group: string;
  version: string;
  kind: string;
  /** Component exchanged; undefined for streams and text. */
  component: string | undefined;
  list: string;
  /** Groups and names as they stand in operation ids. */
  owner: string;
  noun: string;
  custom: boolean;
  returnsDeleted: boolean;
}

type Operations = Record<string, object>;

export function resourcePaths(resource: Resource): Record<string, Operations> {
  const { group, version, plural, namespaced, verbs } = resource;
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const scope = namespaced ? [parameters.NAMESPACE] : [];
  const target: Target = {
    group,
    version,
    kind: resource.kind,
    component: componentName(resource),
    list: listComponentName(resource),
    owner: `${camel(group.replace(/\.k8s\.io$/, '') || 'core')}${camel(version)}`,
    noun: `${namespaced ? 'Namespaced' : ''}${resource.kind}`,
    custom: !isBuiltin(resource),
    returnsDeleted: returnsDeleted(resource),
  };
  const paths: Record<string, Operations> = {};
  const add = (path: string, operations: Operations, shared: object[]): void => {
    if (Object.keys(operations).length > 0) paths[path] = { ...operations, parameters: [...shared, parameters.PRETTY] };
  };
  const served = (wanted: Verb[]): Verb[] => wanted.filter((verb) => verbs.includes(verb));
  if (namespaced && verbs.includes('list')) {
    add(`${root}/${plural}`, operations({ ...target, noun: `${resource.kind}ForAllNamespaces` }, ['list']), []);
  }
  add(collection, operations(target, served(['list', 'create', 'deletecollection'])), scope);
  add(`${collection}/{name}`, operations(target, served(['get', 'update', 'patch', 'delete'])), [
    parameters.NAME,
    ...scope,
  ]);
  for (const sub of resource.subresources) {
    const path = `${collection}/{name}/${sub.name}`;
    add(path, subresourceOperations(resource, target, sub), [parameters.NAME, ...scope]);
  }
  return paths;
}

function subresourceOperations(resource: Resource, parent: Target, sub: Subresource): Operations {
  const { group = resource.group, version = resource.version, kind = resource.kind } = sub;
  const own = sub.kind !== undefined;
  const target: Target = {
    ...parent,
    ...{ group, version, kind },
    component: own ? definitionOfKind(group, version, kind) : sub.name === 'log' ? undefined : parent.component,
    noun: `${parent.noun}${camel(sub.name)}`,
  };
  if (own && !target.component) return connections(target, sub.verbs as Verb[]);
  return operations(target, sub.verbs as Verb[]);
}

/** Streams (exec, attach, port-forward, proxy): what is exchanged is no object. */
function connections(target: Target, verbs: Verb[]): Operations {
  const result: Operations = {};
  for (const verb of verbs) {
    const method = VERBS[verb][0];
    result[method] = {
      ...head(target, 'connect', `connect${target.owner}${camel(method)}${target.noun}`),
      responses: { 200: { description: 'OK', content: { '*/*': { schema: TEXT } } } },
    };
  }
  return result;
}

function operations(target: Target, verbs: Verb[]): Operations {
  const result: Operations = {};
  for (const verb of verbs) {
    const [method, action, id] = VERBS[verb];
    const collection = verb === 'deletecollection' ? 'Collection' : '';
    result[method] = {
      ...head(target, action, `${id}${target.owner}${collection}${target.noun}`),
      ...parametersOf(verb),
      ...requestOf(target, verb),
      responses: responsesOf(target, verb),
    };
  }
  return result;
}

function head({ group, version, kind, owner }: Target, action: string, operationId: string): object {
  return {
    operationId,
    tags: [owner],
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, kind, version },
  };
}

function parametersOf(verb: Verb): { parameters?: object[] } {
  switch (verb) {
    case 'list':
      return { parameters: parameters.LIST };
    case 'create':
    case 'update':
      return { parameters: parameters.WRITE };
    case 'patch':
      return { parameters: parameters.PATCH };
    case 'delete':
      return { parameters: parameters.DELETE };
    case 'deletecollection':
      return { parameters: parameters.DELETE_COLLECTION };
    case 'get':
      return {};
  }
}

function requestOf(target: Target, verb: Verb): { requestBody?: object } {
  if (verb === 'create' || verb === 'update') {
    return { requestBody: { required: true, content: content(['*/*'], target.component as string) } };
  }
  if (verb === 'delete' || verb === 'deletecollection') {
    return { requestBody: { content: content(['*/*'], `${META}.DeleteOptions`) } };
  }
  if (verb !== 'patch') return {};
  // There is no strategic merge for kinds whose merge keys nobody declared.
  const types = target.custom ? PATCH_TYPES : [...PATCH_TYPES, STRATEGIC];
  return { requestBody: { required: true, content: content(types, `${META}.Patch`) } };
}

function responsesOf(target: Target, verb: Verb): object {
  const removes = verb === 'deletecollection' || (verb === 'delete' && !target.returnsDeleted);
  const name = verb === 'list' ? target.list : removes ? `${META}.Status` : target.component;
  const ok = name
    ? { description: 'OK', content: content(['application/json', 'application/yaml'], name) }
    : { description: 'OK', content: { 'application/json': { schema: TEXT }, 'text/plain': { schema: TEXT } } };
  const made = verb === 'create' || verb === 'update' || verb === 'patch';
  return {
    200: ok,
    ...(made ? { 201: { ...ok, description: 'Created' } } : {}),
    ...(verb === 'create' || verb === 'delete' ? { 202: { ...ok, description: 'Accepted' } } : {}),
    401: { description: 'Unauthorized' },
  };
}

function content(types: string[], component: string): object {
  const schema = reference(component);
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

/** `rbac.authorization` → `RbacAuthorization`. */
function camel(name: string): string {
  return name
    .split(/[.-]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

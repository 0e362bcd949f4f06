/**
 * Objects of every kind, changed by their schemas, over all verbs, forms of a patch, parameters and subresources. The
 * server keeps what it accepts, so that later requests meet it. FUZZ_REQUESTS=100000 makes a long run; a request depends
 * on FUZZ_SEED and its number alone, and a failure names both.
 */
import { expect, it } from 'vitest';
import { cases } from '../../src/apiserver/builtins/testdata/cases.ts';
import { encodeProtobuf } from '../../src/apiserver/codec/protobuf-encoder.ts';
import type { Resource } from '../../src/apiserver/index.ts';
import type { Answer } from '../harness/http.ts';
import { Mutation } from '../harness/mutation.ts';
import { type Chance, seeded } from '../harness/seeded.ts';
import { unharmedServer } from '../harness/unharmed.ts';
import { contentOf } from '../harness/well-formed.ts';

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_117);
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 3000);
const AT_ONCE = 8;
/** A different mistake each; the same one a thousand times says no more. */
const FAILURES_SHOWN = 25;
/** Kinds that decide about other requests: they are tried, and not kept. */
const DECIDING = new Set([
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'FlowSchema',
  'PriorityLevelConfiguration',
  'ResourceQuota',
  'LimitRange',
  'APIService',
]);
/** kube-apiserver answers these mistakes of a client with a 500, and with these words. */
const UPSTREAM_500 = [
  /^failed to create typed patch object \(/,
  /^unknown patch type: /,
  /^map: .* does not contain declared merge key: /s,
  /^list element types are not identical: /,
  /^resourceVersion should not be set on objects to be created$/,
  /^resourceVersion: Invalid value: /,
];
const PARAMETERS: Record<string, readonly string[]> = {
  limit: ['0', '1', '-1', 'x', '9'.repeat(30)],
  continue: ['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ', ''],
  resourceVersion: ['0', '1', '5', '', 'x', '9'.repeat(30)],
  resourceVersionMatch: ['Exact', 'NotOlderThan', '', 'toString'],
  labelSelector: ['a=b', '!a', '__proto__=x', 'toString', 'a in (b', 'constructor in (a,b)', '=', 'a.b/c!=d'],
  fieldSelector: ['metadata.name=fuzz-1', '__proto__=x', 'toString=x', 'constructor!=y', 'status.phase=x', 'spec', '='],
  dryRun: ['All', 'All', '', 'x'],
  fieldManager: ['fuzz', 'x'.repeat(200), '\u0007', ''],
  fieldValidation: ['Strict', 'Warn', 'Ignore', '__proto__'],
  force: ['true', 'false', 'x', ''],
  gracePeriodSeconds: ['0', '-1', 'x', '9'.repeat(20)],
  propagationPolicy: ['Orphan', 'Background', 'Foreground', 'constructor'],
  orphanDependents: ['true', 'x'],
  ignoreStoreReadErrorWithClusterBreakingPotential: ['true', 'x'],
  pretty: ['true', 'x'],
  includeObject: ['None', 'Object', 'Metadata', '__proto__'],
  timeout: ['1s', '1ms', '-1s', 'x', `${'9'.repeat(25)}h`],
  container: ['c', '__proto__'],
  tailLines: ['1', '-1', 'x'],
  sinceSeconds: ['0', 'x'],
  command: ['ls', ''],
  __proto__x: ['y'],
};
const ACCEPTS = [
  'constructor',
  '__proto__',
  'application/json',
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
];
const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

const scene = unharmedServer();

interface Made {
  method: string;
  target: string;
  headers: Record<string, string>;
  contentType?: string;
  body?: string | Buffer;
}

it(`answers ${REQUESTS} requests of seed ${SEED} without a failure of its own`, { timeout: 3_600_000 }, async () => {
  const resources = scene.server.root.registry.all();
  const failures = new Map<string, string>();
  const codes = new Map<number, number>();
  // What fails after the answer, in a loop, is a warning of the process.
  const warn = ({ name, message }: Error) => failures.set(message, `${name}: ${message}`);
  process.on('warning', warn);
  let next = 0;
  const work = async () => {
    while (next < REQUESTS && failures.size < FAILURES_SHOWN) {
      const index = next++;
      const made = requestOf(seeded(SEED * 31 + index * 7919), resources);
      const { method, target, headers, contentType, body } = made;
      const answer = await scene.http.send(method, target, { headers, contentType, body });
      codes.set(answer.status, (codes.get(answer.status) ?? 0) + 1);
      const problem = problemOf(answer, method);
      const logged = scene.server.errors.splice(0).map(String).join('; ');
      if (!problem && !logged) continue;
      const said = body === undefined ? '' : ` ${contentType} ${String(body).slice(0, 3000)}`;
      const key = (problem ?? logged).replace(/\d+/g, 'N').slice(0, 160);
      if (!failures.has(key)) failures.set(key, `request ${index}: ${method} ${target}${said}\n${problem} ${logged}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  process.off('warning', warn);
  if (process.env.FUZZ_REQUESTS) console.log([...codes].sort(([a], [b]) => a - b));
  expect([...failures.values()].join('\n\n')).toBe('');
  // Most are refused; enough are accepted to change what later ones meet.
  expect((codes.get(200) ?? 0) + (codes.get(201) ?? 0)).toBeGreaterThan(REQUESTS / 20);
});

/** What is wrong with an answer: a failure of ours, or one that a client cannot read. */
function problemOf(answer: Answer, method: string): string | undefined {
  const { status, text } = answer;
  if (status < 400 || method === 'HEAD') return undefined;
  const content = contentOf(answer);
  if (typeof content === 'string') return status === 404 ? undefined : `${status} ${text}`;
  if (content.kind !== 'Status' || content.code !== status) return `no Status: ${status} ${text.slice(0, 300)}`;
  if (status < 500 || status === 501 || status === 504) return undefined;
  const isUpstream = status === 500 && !content.reason && UPSTREAM_500.some((words) => words.test(content.message));
  return isUpstream ? undefined : `${status} ${content.reason} ${content.message}`;
}

function requestOf(chance: Chance, resources: readonly Resource[]): Made {
  const { pick } = chance;
  const mutation = new Mutation(chance);
  const resource = pick(resources);
  const schema = resource.schema();
  const object = objectOf(chance, mutation, resource);
  const verb = pick([
    'create',
    'create',
    'create',
    'update',
    'update',
    'patch',
    'patch',
    'patch',
    'delete',
    'get',
    'list',
  ]);
  const subresource =
    verb !== 'list' && chance() < 0.2
      ? pick(['status', 'scale', ...resource.subresources.map(({ name }) => name)])
      : '';
  const isDeciding = DECIDING.has(resource.kind);
  const target = targetOf(chance, resource, {
    verb,
    subresource,
    name: nameOf(object),
    dryRun: isDeciding || chance() < 0.3,
  });
  const headers = { accept: pick(ACCEPTS) };
  switch (verb) {
    case 'patch': {
      const contentType = chance() < 0.01 ? pick(['constructor', '__proto__']) : pick(PATCHES);
      const isJsonPatch = contentType === PATCHES[0];
      const body = JSON.stringify(isJsonPatch ? mutation.jsonPatch(object, schema) : mutation.mutate(object, schema));
      return { method: 'PATCH', target, headers, contentType, body };
    }
    case 'create':
    case 'update': {
      const method = verb === 'create' ? 'POST' : 'PUT';
      return { method, target, headers, ...encoded(chance, mutation.mutate(object, schema)) };
    }
    case 'delete': {
      const options = {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        ...mutation.mutate({ preconditions: { uid: 'x' }, gracePeriodSeconds: 0 }, undefined),
      };
      return { method: 'DELETE', target, headers, ...(chance() < 0.4 ? encoded(chance, options) : {}) };
    }
    default:
      return { method: chance() < 0.9 ? 'GET' : 'HEAD', target, headers };
  }
}

/** A known good object of the kind where there is one, or one made by its schema; under one of a few names. */
function objectOf(chance: Chance, mutation: Mutation, resource: Resource): Record<string, unknown> {
  const { group, version, kind, plural } = resource;
  const known = cases.filter(
    (one) => one.group === group && one.version === version && one.plural === plural && one.body?.metadata,
  );
  const isKnown = known.length > 0 && chance() < 0.8;
  const body = (isKnown ? structuredClone(chance.pick(known).body) : mutation.valid(resource.schema())) as Record<
    string,
    unknown
  >;
  const metadata = Object(chance() < 0.7 || isKnown ? body.metadata : {});
  const name = kind === 'CustomResourceDefinition' && isKnown ? metadata.name : `fuzz-${Math.floor(chance() * 3)}`;
  return {
    ...body,
    apiVersion: group ? `${group}/${version}` : version,
    kind,
    metadata: { ...metadata, name, namespace: undefined },
  };
}

function nameOf(object: Record<string, unknown>): string {
  return String((object.metadata as { name: string }).name);
}

interface Aim {
  verb: string;
  subresource: string;
  name: string;
  dryRun: boolean;
}

function targetOf(chance: Chance, resource: Resource, { verb, subresource, name, dryRun }: Aim): string {
  const { group, version, plural, namespaced } = resource;
  const parts = [group ? `/apis/${group}` : '/api', version];
  if (namespaced) parts.push('namespaces', 'default');
  parts.push(plural);
  if ((verb !== 'create' && verb !== 'list') || subresource) parts.push(encodeURIComponent(name));
  if (subresource) parts.push(subresource);
  const query = Array.from({ length: Math.floor(chance() * 3) }, () => {
    const parameter = chance.pick(Object.keys(PARAMETERS));
    return `${parameter}=${encodeURIComponent(chance.pick(PARAMETERS[parameter] as readonly string[]))}`;
  });
  if (verb === 'patch' && chance() < 0.8) query.push('fieldManager=fuzz');
  return `${parts.join('/')}?${dryRun ? ['dryRun=All', ...query.filter((one) => !one.startsWith('dryRun'))].join('&') : query.join('&')}`;
}

function encoded(chance: Chance, object: object): Pick<Made, 'body' | 'contentType'> {
  const roll = chance();
  if (roll < 0.1) {
    try {
      return {
        contentType: 'application/vnd.kubernetes.protobuf',
        body: encodeProtobuf(object as { kind: string; apiVersion: string }),
      };
    } catch {
      // What has values of the wrong type has no protobuf form.
    }
  }
  // JSON is YAML.
  return { contentType: roll < 0.25 ? 'application/yaml' : 'application/json', body: JSON.stringify(object) };
}

/** Our strategies and admission against what a real kube-apiserver 1.35.8 answered (testdata/record.ts). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { admit, builtinPlugins, commit } from '../admission/index.ts';
import { LOOPBACK } from '../auth/identity.ts';
import type { Resource } from '../resource.ts';
import { ApiError, type FieldError, invalid } from '../status.ts';
import type { Key, Stored, Transaction } from '../store/store.ts';
import { convertOf, nameKindOf, printerOf, strategyOf, validateObjectMeta, validateObjectMetaUpdate } from './index.ts';
import { type Case, cases } from './testdata/cases.ts';

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON
type Any = any;
const answers: Any = JSON.parse(readFileSync(new URL('./testdata/answers.json', import.meta.url), 'utf8'));
const plugins = builtinPlugins();
const NOW = Date.parse('2026-01-02T03:04:05Z');

const stored = (key: Key, object: Any): Stored => ({ key, rv: 1, json: JSON.stringify(object), object: () => object });

const world = new Map<string, Stored>();
for (const [resource, namespace, name] of [
  ['/namespaces', '', 'oracle'],
  ['/serviceaccounts', 'oracle', 'default'],
] as const) {
  world.set(`${resource}|${namespace}|${name}`, stored({ resource, namespace, name }, { metadata: { name } }));
}
const tx: Transaction = {
  get: (key) => world.get(`${key.resource}|${key.namespace}|${key.name}`),
  list: () => [],
  put: (key, object) => stored(key, object),
  delete: () => undefined,
};
const store = { get: tx.get, list: () => ({ items: [], rv: 1, more: false }), count: () => 0 };

const STORED: Record<string, string> = {
  'events.k8s.io/Event': 'v1',
  'autoscaling/HorizontalPodAutoscaler': 'autoscaling/v2',
};

/** The generic road, in small: what the handlers do around strategies and admission. */
async function write(one: Case, given: KubeObject, old?: KubeObject): Promise<{ code: number; body: Any }> {
  const { group, plural } = one;
  const kind = one.body.kind as string;
  const strategy = strategyOf(group, kind);
  const object: KubeObject = structuredClone(given);
  const attributes = {
    operation: old ? ('UPDATE' as const) : ('CREATE' as const),
    resource: { group, plural, kind } as Resource,
    subresource: '',
    object,
    old,
    namespace: one.namespaced ? 'oracle' : '',
    name: given.metadata.name ?? '',
    identity: LOOPBACK,
    dryRun: false,
    store,
    now: NOW,
  };
  const context = { now: NOW, user: 'system:apiserver', groups: [], dryRun: false };
  try {
    if (one.namespaced) object.metadata.namespace = 'oracle';
    strategy.defaults?.(object);
    await admit('mutate', attributes, plugins);
    let errors: FieldError[];
    if (old) {
      strategy.prepareUpdate?.(object, old, context);
      const rules = { ...object.metadata, resourceVersion: '1' };
      errors = validateObjectMetaUpdate(rules, { ...old.metadata, resourceVersion: '1' });
      errors.push(...(strategy.validateUpdate?.(object, old) ?? []));
    } else {
      strategy.prepareCreate?.(object, context);
      if (!strategy.noGeneration) object.metadata.generation = 1;
      errors = validateObjectMeta(object.metadata, {
        namespaced: one.namespaced,
        nameKind: nameKindOf(group, kind),
        builtin: true,
      });
      errors.push(...(strategy.validate?.(object) ?? []));
    }
    if (errors.length) throw invalid(group, kind, object.metadata.name ?? '', errors);
    await admit('validate', attributes, plugins);
    commit(tx, attributes, plugins);
    const convert = convertOf(group, kind);
    if (convert) {
      // Into the store and out again.
      const [stored, served] = [STORED[`${group}/${kind}`] ?? object.apiVersion, object.apiVersion];
      convert(object, stored);
      convert(object, served);
      strategy.defaults?.(object);
    }
    return { code: old ? 200 : 201, body: object };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, body: error.toStatus() };
  }
}

/** Random parts are compared by their presence only. */
function comparable(object: Any): Any {
  const copy = structuredClone(object);
  const text = JSON.stringify(copy)
    .replace(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-x')
    .replace(/"10\.96\.\d+\.\d+"/g, '"10.96.x.x"');
  const result = JSON.parse(text);
  delete result.metadata?.uid;
  delete result.metadata?.creationTimestamp;
  delete result.metadata?.resourceVersion;
  delete result.metadata?.generation;
  if (result.status?.lastPhaseTransitionTime) result.status.lastPhaseTransitionTime = 'x';
  for (const condition of result.status?.conditions ?? []) condition.lastTransitionTime = 'x';
  return result;
}

/** One cause per line, sorted: Go walks maps in random order. */
const causes = (status: Any) =>
  (status.details?.causes ?? []).map((c: Any) => `${c.field}: ${c.message.split('\n')[0]}`).sort();

function expectSame(ours: { code: number; body: Any }, real: { code: number; body: Any }): void {
  if (real.code >= 400) {
    expect(ours.code === real.code ? causes(ours.body) : ours).toEqual(causes(real.body));
    const first = (text: string) => text.split('\n')[0];
    if (causes(real.body).length <= 1) expect(first(ours.body.message)).toBe(first(real.body.message));
    expect(ours.code).toBe(real.code);
  } else {
    expect(ours.code >= 400 ? ours.body.message : ours.code).toBe(real.code);
    expect(comparable(ours.body)).toEqual(comparable(real.body));
  }
}

/** Ages depend on the second of the recording. */
const ageless = (cell: unknown) => (typeof cell === 'string' ? cell.replace(/\b(\d+[smhdy])+( ago)?/g, 'AGE') : cell);

async function expectPrinted(one: Case, table: Any): Promise<void> {
  const printer = printerOf(one.group, one.body.kind);
  expect(printer.columns.map((c) => [c.name, c.type, c.format, c.priority])).toEqual(table.columns);
  const created = Date.parse(table.object.metadata.creationTimestamp);
  const cells = await printer.cells(table.object, created);
  expect(cells.map(ageless)).toEqual(table.cells.map(ageless));
}

describe('answers of a real kube-apiserver', () => {
  for (const one of cases) {
    const recorded = answers[one.name];
    it(one.name, async () => {
      const uid = recorded.create.body.metadata?.uid ?? 'uid-1';
      const body = structuredClone(one.body);
      body.metadata.uid = uid;
      expectSame(await write(one, body), recorded.create);
    });
    if (recorded.table) it(`${one.name}, printed`, () => expectPrinted(one, recorded.table));
    if (!one.update || !recorded.update) continue;
    it(`${one.name}, updated`, async () => {
      const old = recorded.create.body;
      const changed = structuredClone(old);
      one.update?.(changed);
      expectSame(await write(one, changed, old), recorded.update);
    });
  }
});

/**
 * Patches and server-side apply judged by upstream's libraries: random cases go through ours and theirs, and must come
 * out the same. Needs Go; run with `npx vitest run --config test/oracle/vitest.config.ts`.
 * ORACLE_RUNS sets the number of cases per property, ORACLE_SEED repeats a run.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { applyConfiguration } from '../../src/apiserver/apply/apply-configuration.ts';
import { setOf } from '../../src/apiserver/apply/field-set.ts';
import { recordUpdate } from '../../src/apiserver/apply/record-update.ts';
import { applyJsonPatch } from '../../src/apiserver/patch/json-patch.ts';
import { applyMergePatch } from '../../src/apiserver/patch/merge-patch.ts';
import { applyStrategicPatch } from '../../src/apiserver/patch/strategic.ts';
import type { Schema } from '../../src/apiserver/schema/schema.ts';
import { ApiError } from '../../src/apiserver/status.ts';
import { type Answer, buildOracle, Oracle } from './oracle.ts';
import { schemaArb, type ValueOptions, valueArb } from './schemas.ts';

const RUNS = Number(process.env.ORACLE_RUNS ?? 1000);
const settings = { numRuns: RUNS, ...(process.env.ORACLE_SEED ? { seed: Number(process.env.ORACLE_SEED) } : {}) };
const TIMEOUT = 600_000;

let oracle: Oracle;

describe.skipIf(!process.env.ROOKERY_ORACLE)('against upstream', () => {
  beforeAll(() => {
    oracle = new Oracle(buildOracle());
  }, TIMEOUT);
  afterAll(() => {
    console.log(`oracle: ${oracle.asked} cases`);
    oracle.close();
  });

  const key = fc.constantFrom('a', 'b', 'c', '0', '1', '-', '-1');
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>('x', 1, true, null),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('node'), { maxKeys: 3 }),
    ),
  })).node;
  const doc = fc.dictionary(fc.constantFrom('a', 'b', 'c'), tree, { maxKeys: 3 });

  it(
    'merge patch',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          doc,
          fc.dictionary(fc.constantFrom('a', 'b', 'c'), tree, { maxKeys: 3 }),
          async (live, patch) => {
            const theirs = await oracle.ask({ op: 'merge', live, patch });
            expect(applyMergePatch(live, patch)).toEqual(theirs.result);
          },
        ),
        settings,
      );
    },
    TIMEOUT,
  );

  it(
    'json patch',
    async () => {
      const pointer = fc.array(key, { minLength: 1, maxLength: 3 }).map((steps) => `/${steps.join('/')}`);
      const operation = fc.oneof(
        fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value: tree }),
        fc.record({ op: fc.constantFrom('add', 'remove', 'test'), path: pointer }),
        fc.record({ op: fc.constantFrom('move', 'copy'), path: pointer, from: pointer }),
      );
      await fc.assert(
        fc.asyncProperty(doc, fc.array(operation, { maxLength: 4 }), async (live, patch) => {
          const theirs = await oracle.ask({ op: 'json', live, patch });
          if (theirs.error?.startsWith('panic')) return;
          same(
            attempt(() => applyJsonPatch(live, patch)),
            theirs,
            () => true,
          );
        }),
        settings,
      );
    },
    TIMEOUT,
  );

  it(
    'strategic merge patch',
    async () => {
      const directives = fc.constantFrom<unknown>(
        undefined,
        undefined,
        undefined,
        'replace',
        'delete',
        'merge',
        'nonsense',
      );
      const cases = schemaArb(3).chain((spec) => {
        const schema: Schema = { type: 'object', properties: { spec, s: SET, m: MAP } };
        const live = valueArb(schema, { nulls: false, sloppy: false, wrong: false });
        const patch = valueArb(schema, { nulls: true, sloppy: false, wrong: false });
        return fc.record({
          schema: fc.constant(schema),
          live,
          patch,
          directives: fc.array(directives, { maxLength: 8 }),
          order: fc.array(fc.constantFrom('x', 'y', 'z', '<&>'), { maxLength: 4 }),
          drop: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
          extras: fc.integer({ min: 0, max: 15 }),
        });
      });
      await fc.assert(
        fc.asyncProperty(cases, async ({ schema, live, patch, directives, order, drop, extras }) => {
          const decorated = decorate(patch ?? {}, [...directives]) as Record<string, unknown>;
          if (extras & 1) decorated['$setElementOrder/s'] = order;
          // Which of the two comes first is chance upstream, so they must not meet.
          if (extras & 2 && !Array.isArray(decorated.s)) decorated['$deleteFromPrimitiveList/s'] = drop;
          if (extras & 4) decorated['$setElementOrder/m'] = order.map((name) => ({ name }));
          if ((extras & 12) === 12) decorated.$retainKeys = ['s', 'm'];
          const ours = attempt(() => applyStrategicPatch(live, decorated, schema));
          // A directive left where upstream overlooks it; decoding the result, which refuses it, is not asked here.
          if (ours.error?.includes('is invalid: patch:')) return;
          // Upstream walks maps in no certain order, so of several problems any may come first: it is asked again.
          for (let tries = 0; ; tries++) {
            const theirs = await oracle.ask({ op: 'strategic', schema, live, patch: decorated });
            // Upstream cannot merge maps inside maps without properties; ours can.
            if (theirs.error?.startsWith('unable to find api field') || theirs.error?.startsWith('panic')) return;
            if (tries < 20 && ours.error !== undefined && theirs.error !== undefined && ours.error !== theirs.error)
              continue;
            same(ours, theirs, sameStrategicError);
            return;
          }
        }),
        settings,
      );
    },
    TIMEOUT,
  );

  const sound: ValueOptions = { nulls: false, sloppy: false, wrong: false };
  const variants: [string, ValueOptions, ValueOptions][] = [
    ['sound objects', sound, sound],
    ['nulls', { ...sound, nulls: true }, { ...sound, nulls: true }],
    ['repeated items', { ...sound, sloppy: true }, sound],
    ['wrong configurations', sound, { nulls: true, sloppy: true, wrong: true }],
  ];
  for (const [name, live, config] of variants) {
    it(
      `updates and applies: ${name}`,
      async () => {
        await fc.assert(fc.asyncProperty(history(live, config), play), { ...settings, numRuns: Math.ceil(RUNS / 3) });
      },
      TIMEOUT,
    );
  }

  it(
    'updates and applies: lists and maps become atomic, or cease to be',
    async () => {
      const changing = fc.tuple(history(sound, sound), fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }));
      const histories = changing.map(([each, flips]) => ({ ...each, later: flipped(each.schema, [...flips]) }));
      await fc.assert(fc.asyncProperty(histories, play), { ...settings, numRuns: Math.ceil(RUNS / 3) });
    },
    TIMEOUT,
  );

  it(
    'many updaters',
    async () => {
      const names = Array.from({ length: 14 }, (_, i) => `w${i}`);
      const step = fc.record({
        verb: fc.constant('update' as const),
        manager: fc.constantFrom(...names),
        status: fc.boolean(),
        key: fc.constantFrom(...names),
        value: fc.constantFrom('x', 'y'),
      });
      const spec: Schema = { type: 'object', additionalProperties: { type: 'string' } };
      const schema: Schema = { type: 'object', properties: { ...HEAD, spec } };
      const rest = { again: false, clientSide: false, force: false, reset: false, managedFields: 'kept' as const };
      const histories = fc.array(step, { minLength: 12, maxLength: 20 }).map((list): History => {
        const grown: Record<string, string> = {};
        const steps = list.map(({ key, value, ...each }) => {
          grown[key] = value;
          return { ...rest, ...each, body: { spec: { ...grown } } };
        });
        return { schema, steps };
      });
      await fc.assert(fc.asyncProperty(histories, play), { ...settings, numRuns: Math.ceil(RUNS / 10) });
    },
    TIMEOUT,
  );
});

const SET: Schema = {
  type: 'array',
  items: { type: 'string' },
  'x-kubernetes-list-type': 'set',
  'x-kubernetes-patch-strategy': 'merge',
};
const MAP: Schema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  'x-kubernetes-patch-strategy': 'merge,retainKeys',
  'x-kubernetes-patch-merge-key': 'name',
  items: { type: 'object', properties: { name: { type: 'string' }, v: { type: 'integer' }, s: SET } },
};

/** Puts `$patch` directives on maps of a patch, in the order they are met. */
function decorate(value: unknown, directives: unknown[]): unknown {
  if (Array.isArray(value)) return value.map((item) => decorate(item, directives));
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    out[key] = decorate(child, directives);
    const directive = directives.shift();
    if (directive !== undefined && isMap(out[key])) (out[key] as Record<string, unknown>).$patch = directive;
    if (directive !== undefined && Array.isArray(out[key])) {
      for (const item of out[key] as unknown[]) if (isMap(item) && directives.shift()) item.$patch = directive;
    }
  }
  return out;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Step {
  verb: 'update' | 'apply';
  /** Sends what the step before sent. */
  again: boolean;
  manager: string;
  status: boolean;
  force: boolean;
  reset: boolean;
  managedFields: 'kept' | 'none' | 'empty' | 'blank' | 'broken';
  /** Leaves the annotation of client-side apply. */
  clientSide: boolean;
  body: Record<string, unknown>;
}

interface History {
  schema: Schema;
  /** The schema from the middle of the history on. */
  later?: Schema;
  steps: Step[];
}

const META: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: SET,
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: { uid: { type: 'string' }, name: { type: 'string' } },
      },
    },
    managedFields: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'object' } },
  },
};

const HEAD: Record<string, Schema> = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: META };

/** The schema with some of its spec's lists and maps made one value, or no longer so. */
function flipped(schema: Schema, flips: boolean[]): Schema {
  const flip = (inner: Schema): Schema => {
    const out: Schema = { ...inner };
    if (inner.items) out.items = flip(inner.items);
    if (typeof inner.additionalProperties === 'object') out.additionalProperties = flip(inner.additionalProperties);
    if (inner.properties) {
      out.properties = {};
      for (const [name, property] of Object.entries(inner.properties)) out.properties[name] = flip(property);
    }
    if (!flips.pop()) return out;
    if (inner.type === 'object') out['x-kubernetes-map-type'] = inner['x-kubernetes-map-type'] ? undefined : 'atomic';
    if (inner.type === 'array' && inner['x-kubernetes-list-type'] !== 'atomic')
      out['x-kubernetes-list-type'] = 'atomic';
    return JSON.parse(JSON.stringify(out));
  };
  return { ...schema, properties: { ...schema.properties, spec: flip(schema.properties?.spec as Schema) } };
}

function history(live: ValueOptions, config: ValueOptions): fc.Arbitrary<History> {
  return fc.tuple(schemaArb(3), schemaArb(1)).chain(([spec, status]) => {
    const schema: Schema = {
      type: 'object',
      properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: META, spec, status },
    };
    const body = (options: ValueOptions) =>
      fc.record(
        {
          labels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('x', 'y')),
          finalizers: fc.uniqueArray(fc.constantFrom('x', 'y'), { maxLength: 2 }),
          spec: valueArb(spec, options),
          status: valueArb(status, options),
        },
        { requiredKeys: [] },
      );
    const common = {
      manager: fc.constantFrom('m1', 'm2', 'kubectl', ''),
      status: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      force: fc.boolean(),
      reset: fc.boolean(),
      again: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
      clientSide: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
      managedFields: fc.constantFrom<Step['managedFields']>(
        'kept',
        'kept',
        'kept',
        'none',
        'none',
        'empty',
        'blank',
        'broken',
      ),
    };
    const update = fc.record({ ...common, verb: fc.constant('update' as const), body: body(live) });
    const apply = fc.record({ ...common, verb: fc.constant('apply' as const), body: body(config) });
    return fc.record({
      schema: fc.constant(schema),
      steps: fc.array(fc.oneof(update, apply, apply), { minLength: 1, maxLength: 6 }),
    });
  });
}

async function play({ schema: first, later, steps }: History): Promise<void> {
  let live: KubeObject | undefined;
  for (const [i, next] of steps.entries()) {
    const schema = later && i >= steps.length / 2 ? later : first;
    const before = steps[i - 1];
    const step = next.again && before?.verb === next.verb ? { ...next, body: before.body } : next;
    const now = Date.parse('2020-01-01T00:00:00Z') + i * 1000;
    const object = toObject(step, live);
    const subresource = step.status ? 'status' : '';
    const reset = step.reset ? [[step.status ? 'spec' : 'status']] : [];
    const common = {
      live,
      schema,
      manager: step.manager,
      apiVersion: 'example.com/v1',
      subresource,
      now,
      ...(step.reset ? { reset: setOf([`f:${reset[0]?.[0]}`]) } : {}),
    };
    const ask = () =>
      oracle.ask({
        op: step.verb,
        schema,
        live,
        object,
        manager: step.manager,
        subresource,
        force: step.force,
        reset,
      });
    const ours = attempt(() => {
      if (step.verb === 'apply') return applyConfiguration({ ...common, config: object, force: step.force });
      const { managedFields: _, ...metadata } = object.metadata;
      const managedFields = recordUpdate({ ...common, object });
      return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata };
    });
    let theirs = await ask();
    // Where upstream prints a map in no certain order, it is asked again.
    for (let tries = 0; tries < 10 && ours.error && theirs.error && !sameApplyError(ours, theirs); tries++)
      theirs = await ask();
    same(marked(ours, now), theirs, sameApplyError);
    const entries = ours.result?.metadata?.managedFields as { fieldsV1: unknown }[] | undefined;
    expect(entries?.map((entry) => JSON.stringify(entry.fieldsV1))).toEqual(theirs.fields);
    if (ours.error) continue;
    live = ours.result as KubeObject;
    live = { ...live, metadata: { ...live.metadata, uid: 'u' } };
  }
}

function toObject(step: Step, live: KubeObject | undefined): KubeObject {
  const { labels, finalizers, ...rest } = step.body;
  const metadata: Record<string, unknown> = {
    name: 'n',
    ...(labels ? { labels } : {}),
    ...(finalizers ? { finalizers } : {}),
  };
  if (step.verb === 'update') {
    const sent = {
      kept: live?.metadata.managedFields,
      none: undefined,
      empty: [],
      blank: [{}],
      broken: [{ manager: 'm', operation: 'Nonsense' }],
    };
    if (sent[step.managedFields]) metadata.managedFields = sent[step.managedFields];
    if (live) metadata.uid = 'u';
  }
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata, ...rest } as KubeObject;
  if (step.clientSide && step.verb === 'update') {
    const { managedFields: _, uid: __, ...own } = metadata;
    const applied = JSON.stringify({ ...object, metadata: own });
    object.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': applied };
  }
  return object;
}

/** The time of this very request, as the oracle marks it. */
function marked(answer: Answer, now: number): Answer {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const entries = answer.result?.metadata?.managedFields as { time?: string }[] | undefined;
  if (!entries) return answer;
  const managedFields = entries.map((entry) => (entry.time === time ? { ...entry, time: 'NOW' } : entry));
  return { ...answer, result: { ...answer.result, metadata: { ...answer.result.metadata, managedFields } } };
}

function attempt(run: () => unknown): Answer {
  try {
    return { result: run() };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { error: error.message, ...(error.details?.causes ? { causes: error.details.causes } : {}) };
  }
}

function same(ours: Answer, theirs: Answer, sameError: (ours: Answer, theirs: Answer) => boolean): void {
  if (ours.error === undefined || theirs.error === undefined) {
    expect({ result: ours.result, error: ours.error }).toEqual({ result: theirs.result, error: theirs.error });
  } else if (!sameError(ours, theirs)) {
    expect(ours).toEqual(theirs);
  }
}

/** Our server hides what upstream hides: 422 comes without its reason. */
function sameStrategicError(ours: Answer, theirs: Answer): boolean {
  return ours.error === theirs.error || ours.error === 'the server rejected our request due to an error in our request';
}

/** Upstream lists managers and problems in no certain order. */
function sameApplyError(ours: Answer, theirs: Answer): boolean {
  const unknown = 'field not declared in schema';
  // Which of several unknown fields is met first is chance, and the first ends the search.
  if (ours.error?.includes(unknown)) return theirs.error?.includes(unknown) ?? false;
  const lines = ({ error = '' }: Answer) => error.split('\n').sort().join('\n');
  const causes = ({ causes = [] }: Answer) =>
    causes.map((cause) => JSON.stringify(cause, ['reason', 'message', 'field'])).sort();
  return lines(ours) === lines(theirs) && JSON.stringify(causes(ours)) === JSON.stringify(causes(theirs));
}

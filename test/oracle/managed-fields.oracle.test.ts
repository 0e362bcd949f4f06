/** managedFields of built-in kinds, which upstream keeps as Go structs: see patch.oracle.test.ts for how to run. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { applyConfiguration } from '../../src/apiserver/apply/apply-configuration.ts';
import { setOf } from '../../src/apiserver/apply/field-set.ts';
import { recordUpdate } from '../../src/apiserver/apply/record-update.ts';
import { applyStrategicPatch } from '../../src/apiserver/patch/strategic.ts';
import type { Schema } from '../../src/apiserver/schema/schema.ts';
import { ApiError } from '../../src/apiserver/status.ts';
import { builtins, metadata, publishedSchema } from './builtins.ts';
import { buildOracle, Oracle } from './oracle.ts';

const RUNS = Number(process.env.ORACLE_RUNS ?? 1000);
const settings = {
  numRuns: Math.ceil(RUNS / 3),
  ...(process.env.ORACLE_SEED ? { seed: Number(process.env.ORACLE_SEED) } : {}),
};
const TIMEOUT = 600_000;

let oracle: Oracle;

interface Step {
  verb: 'update' | 'apply';
  manager: string;
  status: boolean;
  force: boolean;
  metadata: Record<string, unknown>;
  body: Record<string, unknown>;
}

describe.skipIf(!process.env.ROOKERY_ORACLE)('built-in kinds against upstream', () => {
  beforeAll(() => {
    oracle = new Oracle(buildOracle());
  }, TIMEOUT);
  afterAll(() => {
    console.log(`oracle: ${oracle.asked} cases`);
    oracle.close();
  });

  for (const [kind, { apiVersion, document, definition, body }] of Object.entries(builtins)) {
    const step: fc.Arbitrary<Step> = fc.record({
      verb: fc.constantFrom('update' as const, 'apply' as const),
      manager: fc.constantFrom('m1', 'm2', 'kubectl'),
      status: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
      force: fc.boolean(),
      metadata,
      body,
    });
    it(
      `${kind}: updates and applies`,
      async () => {
        const schema = publishedSchema(document, definition);
        const steps = fc.array(step, { minLength: 1, maxLength: 5 });
        await fc.assert(
          fc.asyncProperty(steps, (history) => play(kind, apiVersion, schema, history)),
          settings,
        );
      },
      TIMEOUT,
    );

    it(
      `${kind}: strategic merge patch`,
      async () => {
        const schema = publishedSchema(document, definition);
        await fc.assert(
          fc.asyncProperty(body, body, async (live, patch) => {
            const theirs = await oracle.ask({ op: 'strategic', kind, live, patch });
            if (!theirs.error) expect(applyStrategicPatch(live, patch, schema)).toEqual(theirs.result);
          }),
          settings,
        );
      },
      TIMEOUT,
    );
  }
});

async function play(kind: string, apiVersion: string, schema: Schema, steps: Step[]): Promise<void> {
  let live: KubeObject | undefined;
  for (const [i, step] of steps.entries()) {
    const now = Date.parse('2020-01-01T00:00:00Z') + i * 1000;
    const object = { apiVersion, kind, metadata: { name: 'n', ...step.metadata }, ...step.body } as KubeObject;
    if (step.verb === 'update' && live) object.metadata.uid = 'u';
    const subresource = step.status ? 'status' : '';
    const reset = [[step.status ? 'spec' : 'status']];
    const { manager, force } = step;
    const common = {
      live,
      schema,
      manager,
      apiVersion,
      subresource,
      now,
      structs: true,
      reset: setOf([`f:${reset[0]?.[0]}`]),
    };
    const theirs = await oracle.ask({ op: step.verb, kind, live, object, manager, subresource, force, reset });
    let ours: KubeObject;
    try {
      if (step.verb === 'apply') ours = applyConfiguration({ ...common, config: object, force });
      else ours = { ...object, metadata: { ...object.metadata, managedFields: recordUpdate({ ...common, object }) } };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      expect(error.message.split('\n').sort()).toEqual(theirs.error?.split('\n').sort());
      continue;
    }
    expect(theirs.error).toBeUndefined();
    expect(owners(ours, now)).toEqual(owners(theirs.result, now));
    expect(bare(ours)).toEqual(bare(theirs.result));
    live = { ...ours, metadata: { ...ours.metadata, uid: 'u' } };
  }
}

function owners(object: KubeObject, now: number): unknown {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  return object.metadata.managedFields?.map((entry) => (entry.time === time ? { ...entry, time: 'NOW' } : entry));
}

/** Without what Go writes for empty structs and for required strings that nobody gave, and without managedFields. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    // A port without target is 0 in Go, which the codec fills in.
    const inner = key === 'managedFields' || (key === 'targetPort' && child === 0) ? null : bare(child);
    const isEmpty = typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0;
    if (inner !== null && inner !== '' && !isEmpty) out[key] = inner;
  }
  return out;
}

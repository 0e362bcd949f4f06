/**
 * CEL judged by cel-go with Kubernetes' libraries: random expressions over random objects must compile, fail and come out
 * the same here and there, at the same cost. ORACLE_CEL sets the number of expressions, ORACLE_SEED repeats a run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extend } from '../../src/apiserver/cel/check/environment.ts';
import { estimateCost } from '../../src/apiserver/cel/cost/estimate.ts';
import { baseEnvironment, compile } from '../../src/apiserver/cel/engine.ts';
import { PlanError } from '../../src/apiserver/cel/run/plan.ts';
import { fieldsIn, type Registry, type SchemaType, schemaType, sizesIn } from '../../src/apiserver/cel/schema-type.ts';
import { schemaValue } from '../../src/apiserver/cel/schema-value.ts';
import { CompileError } from '../../src/apiserver/cel/syntax/issue.ts';
import { CelError } from '../../src/apiserver/cel/values/value.ts';
import { Dice } from './dice.ts';
import { randomExpression } from './expressions.ts';
import { buildOracle, Oracle } from './oracle.ts';
import { randomObject, SCHEMA } from './random-object.ts';
import { render } from './render.ts';

const COUNT = Number(process.env.ORACLE_CEL ?? 10_000);
const SEED = Number(process.env.ORACLE_SEED ?? Date.now() % 2 ** 31);
const BATCH = 50;
const TIMEOUT = 1_200_000;

interface Outcome {
  issues?: string;
  problem?: string;
  type?: string;
  estimate?: string;
  value?: string;
  error?: string;
  cost?: number;
}

const registry: Registry = new Map();
const type = schemaType(SCHEMA, true, 'selfType', registry) as SchemaType;
const env = extend(baseEnvironment(), { self: type.type }, fieldsIn(registry));

function ours(source: string, object: unknown): Outcome {
  try {
    const program = compile(source, env);
    const { value, cost } = program.run((name) => (name === 'self' ? schemaValue(object, SCHEMA, true) : undefined));
    return {
      type: String(program.checked.type),
      estimate: String(estimateCost(program.checked, sizesIn(type))),
      ...(value instanceof CelError ? { error: value.message } : { value: render(value) }),
      cost,
    };
  } catch (error) {
    if (error instanceof CompileError) return { issues: error.message };
    if (error instanceof PlanError) return { problem: error.message };
    throw error;
  }
}

/** Some errors name the Go type that holds a value; docs/conformance.md says so. */
const withoutGoTypes = (text = ''): string => text.replace(/(invalid qualifier type: )\*\w+\.\w+/, '$1?');

/** What differs without a difference: the wording of syntax errors, numbers beyond doubles, where Go is nondeterministic. */
function differs(mine: Outcome, theirs: Outcome): string | undefined {
  if (theirs.problem?.startsWith('panic') || theirs.error?.startsWith('internal error')) return undefined;
  if ((mine.issues ?? '') !== (theirs.issues ?? '')) return 'issues';
  if (mine.issues !== undefined) return undefined;
  if ((mine.problem ?? '') !== (theirs.problem ?? '')) return 'problem';
  if (mine.problem !== undefined) return undefined;
  const [a, b] = [Number(mine.estimate), Number(theirs.estimate)];
  if (a !== b && Math.abs(a - b) > 1e-9 * b) return 'estimate';
  if (withoutGoTypes(mine.error) !== withoutGoTypes(theirs.error)) return 'error';
  if (mine.value !== theirs.value && mine.value !== undefined) return 'value';
  return mine.cost === theirs.cost ? undefined : 'cost';
}

describe.skipIf(!process.env.ROOKERY_ORACLE)('expressions against upstream', () => {
  let oracle: Oracle;

  beforeAll(() => {
    oracle = new Oracle(buildOracle());
  }, TIMEOUT);
  afterAll(() => oracle.close());

  it(
    `${COUNT} of them`,
    async () => {
      console.log(`oracle: CEL, seed ${SEED}`);
      const dice = new Dice(SEED);
      const found: Record<string, { count: number; shown: unknown[] }> = {};
      let compiled = 0;
      for (let done = 0; done < COUNT; done += BATCH) {
        const object = randomObject(dice);
        const expressions = Array.from({ length: BATCH }, () => randomExpression(dice));
        const answer = await oracle.ask({ op: 'cel', schema: SCHEMA, object, expressions });
        expect(answer.error).toBeUndefined();
        expressions.forEach((source, i) => {
          const theirs = answer.result[i] as Outcome;
          const mine = ours(source, object);
          if (theirs.value !== undefined) compiled++;
          const what = differs(mine, theirs);
          if (!what) return;
          found[what] ??= { count: 0, shown: [] };
          found[what].count++;
          if (found[what].shown.length < 12) found[what].shown.push({ source, mine, theirs });
        });
      }
      oracle.asked += COUNT;
      console.log(
        `oracle: ${COUNT} expressions, ${compiled} with a value; differences: ${JSON.stringify(found, null, 1)}`,
      );
      expect(found).toEqual({});
    },
    TIMEOUT,
  );
});

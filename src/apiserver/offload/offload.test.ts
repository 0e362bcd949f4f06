// What takes long is done by the thread, with the results it would have had here.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Evaluator } from '../admission/policy/evaluator.ts';
import type { PolicySpec } from '../admission/policy/policy.ts';
import { MatchConditions } from '../admission/webhook/match-conditions.ts';
import { bounded, TakesLong } from '../allowance.ts';
import type { Attributes } from '../auth/identity.ts';
import { customErrors, validateCustom } from '../crd/custom-validation.ts';
import type { Schema } from '../schema/schema.ts';
import { toTheEnd } from '../turns.ts';
import { offload, provideThread } from './offload.ts';

provideThread();

const text = 'a'.repeat(100_000);

describe('work that takes long', () => {
  it('is given up, also where something in between caught that', () => {
    const schema: Schema = { type: 'string', pattern: '^(a+)+b$' };
    const work = () =>
      toTheEnd(customErrors({ spec: text } as never, undefined, { properties: { spec: schema } }, undefined));
    expect(() => bounded(work)).toThrow(TakesLong);
    const caught = () => {
      try {
        return work();
      } catch {
        return undefined;
      }
    };
    expect(() => bounded(caught)).toThrow(TakesLong);
    expect(work().errors).toHaveLength(1);
  });

  it('has the same errors, and leaves the event loop to others', { timeout: 100_000 }, async () => {
    const spec: Schema = {
      type: 'string',
      pattern: '^(a+)+b$',
      'x-kubernetes-validations': [
        { rule: "self.findAll('a').size() == 1", messageExpression: "'it has ' + string(self.size())" },
      ],
    };
    const schema: Schema = { type: 'object', properties: { spec } };
    const object = { apiVersion: 'v1', kind: 'K', metadata: { name: 'a' }, spec: text };
    const here = toTheEnd(customErrors(object, undefined, schema, undefined));
    expect(here.errors.map(({ message }) => message.slice(-60))[1]).toContain('it has 100000');
    let turns = 0;
    let isDone = false;
    const others = (async () => {
      for (; !isDone; turns++) await nextTurn();
    })();
    expect(await validateCustom(object, undefined, schema, undefined)).toEqual(here.errors);
    expect(await validateCustom(object, undefined, schema, undefined)).toEqual(here.errors);
    isDone = true;
    await others;
    expect(turns).toBeGreaterThan(10);
  });

  it('may ask who is allowed what', async () => {
    const asked: Attributes[] = [];
    const authorizer = {
      authorize(_: unknown, attributes: Attributes) {
        asked.push(attributes);
        return { allowed: attributes.verb === 'get', reason: '' };
      },
    };
    const check = (verb: string) => `authorizer.group('').resource('pods').check('${verb}').allowed()`;
    const spec: PolicySpec = {
      validations: [
        { expression: `object.spec.findAll('a').size() > 0 && ${check('get')}` },
        { expression: check('list'), message: 'no list' },
      ],
    };
    const admission = { object: { spec: text }, identity: { user: 'u', groups: [] } };
    const steps = new Evaluator(spec).evaluate({ ...admission, authorizer });
    const { decisions } = await offload(steps, 'policy', [spec, admission], { authorizer });
    expect(decisions).toEqual([{}, { denied: { message: 'no list', reason: 'Invalid' } }]);
    expect(asked.map(({ verb }) => verb)).toEqual(['get', 'list']);
  });

  it('does not keep the process', { timeout: 100_000 }, async () => {
    const script = `
      const { MatchConditions } = await import('./src/apiserver/admission/webhook/match-conditions.ts');
      const { provideThread } = await import('./src/apiserver/offload/offload.ts');
      provideThread();
      const sources = [{ name: 'a', expression: "object.spec.findAll('a').size() > 0" }];
      const conditions = new MatchConditions({ sources, ignoresFailure: false });
      console.log(await conditions.holdInTurns({ object: { spec: 'a'.repeat(20_000) } }));
    `;
    const root = join(import.meta.dirname, '../../..');
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 50_000 });
    expect(stdout).toBe('true\n');
  });

  it('fails as it would have here', async () => {
    const expression = "object.spec.findAll('a').size() / 0 == 1";
    const conditions = new MatchConditions({ sources: [{ name: 'a', expression }], ignoresFailure: false });
    const variables = { object: { spec: text } };
    expect(() => conditions.hold(variables)).toThrow('division by zero');
    await expect(conditions.holdInTurns(variables)).rejects.toThrow(
      `expression '${expression}' resulted in error: division by zero`,
    );
  });
});

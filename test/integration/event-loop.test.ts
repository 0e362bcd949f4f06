// How long one turn of the event loop is held by what users send: expensive rules, broken patterns, many and large CRDs.
// The server is a process of its own and measures itself, in its main thread's time on the processor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Http } from '../harness/http.ts';
import { WatchedServer } from '../harness/watched-server.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const V1 = '/apis/turns.example.com/v1';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
/** Milliseconds. The goal is 50, and is what an idle machine keeps; the rest is for one that does much else. */
const LIMIT = 75;
/** For documents of megabytes in sixty thousand parts: to parse one is a single call. */
const LARGE_LIMIT = 300;
/** Requests at the same time: what comes together is partly handled in one turn. */
const LANES = 10;

let server: WatchedServer;
let http: Http;

beforeAll(async () => {
  server = await WatchedServer.start();
  http = server.http;
  // What runs for the first time is slow for that reason, and is nobody's attack.
  const schema = withSpec({
    ...TEXT,
    'x-kubernetes-validations': [{ rule: "self.matches('^a+$') && self.size() > 0" }],
  });
  await define('warm', schema);
  for (let i = 0; i < 30; i++) await http.post(objects('warm'), object('warm', `a${i}`, 'aaa'));
});

afterAll(() => server?.stop());

const TEXT = { type: 'string', maxLength: 1_000_000 };

const report = (name: string, work: () => Promise<unknown>, limit = LIMIT) =>
  server.expectShortTurns(name, work, limit);

const crd = (plural: string, openAPIV3Schema: unknown) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.turns.example.com` },
  spec: {
    group: 'turns.example.com',
    names: { plural, kind: `K${plural}`, singular: plural },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
});

const withSpec = (spec: unknown) => ({ type: 'object', properties: { spec } });
const objects = (plural: string) => `/apis/turns.example.com/v1/${plural}`;
const object = (plural: string, name: string, spec: unknown) => ({
  apiVersion: 'turns.example.com/v1',
  kind: `K${plural}`,
  metadata: { name },
  spec,
});

async function define(plural: string, schema: unknown): Promise<void> {
  hasStatus(await http.post(CRDS, crd(plural, schema)), 201);
  hasStatus(await http.get(objects(plural)), 200);
}

function hasStatus(answer: Answer, status: number): void {
  expect(answer.status, answer.text.slice(0, 500)).toBe(status);
}

/** As many properties as make a text of about so many bytes. */
function properties(bytes: number, extra: (i: number) => object = () => ({})): Record<string, unknown> {
  const one = JSON.stringify({ property0000: { type: 'string', maxLength: 10, ...extra(1000) } }).length;
  return Object.fromEntries(
    Array.from({ length: Math.floor(bytes / one) }, (_, i) => [
      `property${i}`,
      { type: 'string', maxLength: 10, ...extra(i) },
    ]),
  );
}

const rules = (i: number) => ({
  'x-kubernetes-validations': [{ rule: `self.startsWith('a') && self.size() < ${i} && self.matches('^[a-z]+$')` }],
});

describe('one turn of the event loop', () => {
  it('is short with two thousand rules in a CRD', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 2000 }, (_, i) => [`p${i}`, { type: 'string', maxLength: 10, ...rules(i) }]),
    );
    await report('2,000 rules', () => define('manyrules', withSpec({ type: 'object', properties: many })));
    const spec = Object.fromEntries(Object.keys(many).map((key) => [key, 'a']));
    await report('an object with 2,000 rules', async () =>
      hasStatus(await http.post(objects('manyrules'), object('manyrules', 'a', spec)), 422),
    );
  });

  it('is short with rules on large objects', async () => {
    const list = { type: 'array', maxItems: 2000, items: { type: 'string', maxLength: 20 } };
    const each = Array.from({ length: 20 }, (_, i) => ({ rule: `self.all(x, x.size() > 0 && x != 'no-${i}')` }));
    await define('largeones', withSpec({ ...list, 'x-kubernetes-validations': each }));
    const spec = Array.from({ length: 2000 }, (_, i) => `item-${i}`);
    await report('20 rules on 2,000 elements', async () =>
      hasStatus(await http.post(objects('largeones'), object('largeones', 'a', spec)), 201),
    );
  });

  it('is short with patterns made to backtrack', async () => {
    await define('patterns', withSpec({ type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' }));
    await define('large-patterns', withSpec({ type: 'string', pattern: '^((a?){30}){30}$' }));
    await report('a pattern on 2,900,000 characters', async () =>
      hasStatus(await http.post(objects('patterns'), object('patterns', 'a', 'a'.repeat(2_900_000))), 422),
    );
    await report('a pattern of 1,000 steps on 10,000 characters', async () =>
      hasStatus(await http.post(objects('large-patterns'), object('large-patterns', 'a', 'a'.repeat(10_000))), 422),
    );
  });

  it('is short with a rule that is too expensive, which is refused', async () => {
    const list = { type: 'array', items: { type: 'string' } };
    const rule = { rule: 'self.all(x, self.all(y, self.all(z, x != y || y != z)))' };
    const body = crd('expensive', withSpec({ ...list, 'x-kubernetes-validations': [rule] }));
    await report('a cubic rule', async () => {
      const refused = await http.post(CRDS, body);
      hasStatus(refused, 422);
      expect(refused.json.message).toContain('estimated rule cost exceeds budget by factor of more than 100x');
    });
  });

  /** Bounded by what the schema says, and dear all the same; a rule that does not end otherwise is ended by its cost. */
  const EXCEEDED = 'actual cost limit exceeded';
  it.each([
    ['nested loops', 'self.l.all(x, self.l.all(y, x != "no" && y != "no"))', EXCEEDED],
    ['a text that grows in a loop', 'self.l.all(x, (self.s + x + self.s + x).replace("a", "b") == x)', 'failed rule'],
    ['a pattern on a long text', 'self.t.matches("^(([a-z])+.)+[A-Z]([a-z])+$")', 'failed rule'],
    ['all matches in a long text', 'self.t.findAll("a").size() == 0', 'failed rule'],
    [
      'a quantity of many digits',
      'isQuantity(self.d) && quantity(self.d).isGreaterThan(quantity(self.d))',
      'failed rule',
    ],
  ])('is short with %s', async (name, rule, said) => {
    const plural = name.replaceAll(' ', '');
    const spec = {
      type: 'object',
      'x-kubernetes-validations': [{ rule }],
      properties: {
        l: { type: 'array', maxItems: 1000, items: { type: 'string', maxLength: 10 } },
        t: { type: 'string', maxLength: 90_000 },
        s: { type: 'string', maxLength: 1_000 },
        d: { type: 'string', maxLength: 90_000 },
      },
    };
    await define(plural, withSpec(spec));
    const value = {
      l: Array.from({ length: 1000 }, (_, i) => `x${i}`),
      t: 'a'.repeat(90_000),
      s: 'a'.repeat(1_000),
      d: '9'.repeat(90_000),
    };
    await report(name, async () => {
      const answer = await http.post(objects(plural), object(plural, 'a', value));
      hasStatus(answer, 422);
      expect(answer.json.message).toContain(said);
    });
  });

  it('is short with a policy whose expressions are long and dear', async () => {
    const expression = `[${Array.from({ length: 5_000 }, (_, i) => `object.data.a${i}`).join(',')}].all(x, x == '')`;
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'dear' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
        validations: [
          { expression: `has(object.data.a0) ? ${expression} : true` },
          { expression: 'object.data.all(k, object.data.all(l, object.data[k] == object.data[l]))' },
          { expression: "authorizer.group('').resource('pods').check('get').allowed()" },
        ],
      },
    };
    await report('a policy of 90,000 characters', async () => hasStatus(await http.post(POLICIES, policy), 201));
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'dear' },
      spec: { policyName: 'dear', validationActions: ['Deny'] },
    };
    hasStatus(await http.post(`${POLICIES.replace(/policies$/, 'policybindings')}`, binding), 201);
    const data = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, 'v']));
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'dear' }, data };
    await report('a request under that policy', async () => {
      const answer = await http.post('/api/v1/namespaces/default/configmaps', body);
      hasStatus(answer, 422);
      expect(answer.json.message).toContain(EXCEEDED);
    });
    expect((await http.delete(`${POLICIES}/dear`)).status).toBe(200);
  });

  it('is short with a CRD of five megabytes, which is refused', async () => {
    const body = crd('toolarge', withSpec({ type: 'object', properties: properties(5 * 1024 * 1024) }));
    await report('a CRD of 5 MB', async () => {
      const refused = await http.post(CRDS, body);
      hasStatus(refused, 413);
      expect(refused.json.message).toBe('Request entity too large: limit is 3145728');
    });
  });

  it('is short with many CRDs', async () => {
    const count = 500;
    const schema = withSpec({ ...TEXT, 'x-kubernetes-validations': [{ rule: 'self.size() < 5' }] });
    const create = async (name: string) => hasStatus(await http.post(CRDS, crd(name, schema)), 201);
    await report(`${count} CRDs, one after the other`, async () => {
      for (let i = 0; i < count; i++) await create(`one${i}`);
    });
    await report(`${count} CRDs, ${LANES} at a time`, async () => {
      let next = 0;
      const lane = async () => {
        while (next < count) await create(`many${next++}`);
      };
      await Promise.all(Array.from({ length: LANES }, lane));
    });
    for (const path of ['/apis', V1, '/openapi/v3', `/openapi/v3${V1}`, '/openapi/v2'])
      await report(`${path} of ${2 * count} CRDs`, async () => hasStatus(await http.get(path), 200));
  });

  it('is not much longer with the largest CRDs', async () => {
    const large = crd('large', withSpec({ type: 'object', properties: properties(2_900_000) }));
    await report('a CRD of 2.9 MB', async () => hasStatus(await http.post(CRDS, large), 201), LARGE_LIMIT);
    const ruled = crd('ruled', withSpec({ type: 'object', properties: properties(2_900_000, rules) }));
    await report('a CRD of 2.9 MB of rules', async () => hasStatus(await http.post(CRDS, ruled), 201), LARGE_LIMIT);
  });
}, 300_000);

import { describe, expect, it } from 'vitest';
import type { Crd } from '../crd/crd.ts';
import { crdStrategy } from '../crd/strategy.ts';
import { validateCrd } from '../crd/validate.ts';
import type { Schema, ValidationRule } from '../schema/schema.ts';
import { escapeName } from './escape.ts';
import { validateRules } from './rules.ts';

const withRules = (schema: Schema, ...rules: (string | ValidationRule)[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

const object = (properties: Record<string, Schema>, extra: Partial<Schema> = {}): Schema => ({
  type: 'object',
  properties,
  ...extra,
});

const texts = (value: unknown, schema: Schema, old?: unknown) =>
  validateRules(value, schema, '', old, true).map((e) => `${e.field}: ${e.message}`);

function crdErrors(schema: Schema): string[] {
  const crd: Crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
  crdStrategy.prepareCreate?.(crd, { now: 0, user: '', groups: [], dryRun: false });
  crdStrategy.defaults?.(crd);
  return validateCrd(crd).map((e) => `${e.field}: ${e.message}`);
}

describe('expressions on typed values', () => {
  const int: Schema = { type: 'integer' };
  const text: Schema = { type: 'string' };
  const everything = object({
    n: int,
    d: { type: 'number' },
    s: text,
    b: { type: 'boolean' },
    list: { type: 'array', items: int, maxItems: 10 },
    names: { type: 'array', items: text, 'x-kubernetes-list-type': 'set', maxItems: 10 },
    map: { type: 'object', additionalProperties: int },
    objects: { type: 'array', items: object({ key: text, opt: int }), maxItems: 10 },
    time: { type: 'string', format: 'date-time' },
    wait: { type: 'string', format: 'duration' },
    either: { 'x-kubernetes-int-or-string': true },
    'dash-ed': text,
    namespace: text,
    nothing: { type: 'string', nullable: true },
  });
  const value = {
    metadata: { name: 'it' },
    n: 5,
    d: 1.5,
    s: 'hello',
    b: true,
    list: [1, 2, 3],
    names: ['a', 'b'],
    map: { x: 1 },
    objects: [{ key: 'a', opt: 1 }, { key: 'b' }],
    time: '2020-01-02T03:04:05Z',
    wait: '1h30m',
    either: 3,
    'dash-ed': 'x',
    namespace: 'ns',
    nothing: null,
  };
  it.each([
    'self.n + 1 == 6',
    'self.n > 1 && self.d < 2.0',
    'self.s.startsWith("he") && self.s.size() == 5',
    'self.s.matches("^h[a-z]+$")',
    'self.list.all(x, x > 0) && self.list.sum() == 6 && self.list.isSorted()',
    'self.list.exists_one(x, x == 2) && size(self.list.filter(x, x > 1)) == 2',
    'self.list[0] == 1 && 3 in self.list',
    '"a" in self.names && self.names.size() == 2',
    'self.map.all(k, self.map[k] > 0) && "x" in self.map && self.map.x == 1',
    'self.objects.map(o, o.key) == ["a", "b"]',
    'has(self.objects[0].opt) && !has(self.objects[1].opt)',
    'self.objects[1].?opt.orValue(9) == 9',
    'self.time < timestamp("2021-01-01T00:00:00Z") && self.time.getFullYear() == 2020',
    'self.wait > duration("1h") && self.wait == duration("90m")',
    'type(self.either) == int ? self.either == 3 : self.either == "3"',
    'self.dash__dash__ed == "x" && self.__namespace__ == "ns"',
    'self.metadata.name == "it"',
    '!has(self.nothing)',
    'self == self',
    'isQuantity("1Gi") && quantity("1Gi").isGreaterThan(quantity("500Mi"))',
    'cidr("10.0.0.0/8").containsIP(ip("10.2.3.4"))',
    'url("https://example.com:8443/a?b=c").getHostname() == "example.com"',
    'semver("1.2.3").isLessThan(semver("1.10.0"))',
    '!format.dns1123Label().validate("ok").hasValue()',
    '"a,b".split(",").size() == 2 && "x".replace("x", "y") == "y"',
    'sets.contains(self.list, [1, 2])',
  ])('%s', (rule) => expect(texts(value, withRules(everything, rule))).toEqual([]));
});

describe('failures', () => {
  const spec = (schema: Schema) => object({ spec: schema });
  it('says where and why', () => {
    const replicas = object({ min: { type: 'integer' }, max: { type: 'integer' } });
    const schema = spec(withRules(replicas, { rule: 'self.min <= self.max', message: 'min must not exceed max' }));
    expect(texts({ spec: { min: 3, max: 1 } }, schema)).toEqual(['spec: Invalid value: min must not exceed max']);
    const bare = spec(withRules(replicas, 'self.min <= self.max'));
    expect(texts({ spec: { min: 3, max: 1 } }, bare)).toEqual([
      'spec: Invalid value: failed rule: self.min <= self.max',
    ]);
    const scalar = object({ size: withRules({ type: 'integer' }, { rule: 'self > 0', message: 'positive' }) });
    expect(texts({ size: -1 }, scalar)).toEqual(['size: Invalid value: -1: positive']);
  });

  it('knows fieldPath, reason and messageExpression', () => {
    const schema = withRules(spec(object({ a: { type: 'integer' } })), {
      rule: 'self.spec.a < 5',
      messageExpression: '"a is " + string(self.spec.a)',
      fieldPath: '.spec.a',
      reason: 'FieldValueForbidden',
    });
    expect(texts({ spec: { a: 7 } }, schema)).toEqual(['spec.a: Forbidden: a is 7']);
  });

  it('reports errors of evaluation', () => {
    const schema = spec(withRules(object({ a: { type: 'integer' } }), 'self.a > 0'));
    expect(texts({ spec: {} }, schema)).toEqual([
      'spec: Invalid value: "object": no such key: a evaluating rule: self.a > 0',
    ]);
  });

  it('runs transition rules on updates only, and optionalOldSelf always', () => {
    const immutable = object({ a: withRules({ type: 'string' }, { rule: 'self == oldSelf', message: 'immutable' }) });
    expect(texts({ a: 'x' }, immutable)).toEqual([]);
    expect(texts({ a: 'x' }, immutable, { a: 'x' })).toEqual([]);
    expect(texts({ a: 'y' }, immutable, { a: 'x' })).toEqual(['a: Invalid value: "y": immutable']);
    const once = object({
      a: withRules({ type: 'string' }, { rule: 'oldSelf.hasValue() || self == "first"', optionalOldSelf: true }),
    });
    expect(texts({ a: 'second' }, once)).toHaveLength(1);
    expect(texts({ a: 'second' }, once, { a: 'first' })).toEqual([]);
  });

  it('matches elements of map lists by key', () => {
    const item = withRules(object({ k: { type: 'string' }, v: { type: 'integer' } }), 'self.v >= oldSelf.v');
    const schema = object({
      l: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    });
    const old = {
      l: [
        { k: 'a', v: 1 },
        { k: 'b', v: 5 },
      ],
    };
    expect(
      texts(
        {
          l: [
            { k: 'b', v: 4 },
            { k: 'a', v: 2 },
          ],
        },
        schema,
        old,
      ),
    ).toEqual(['l[0]: Invalid value: failed rule: self.v >= oldSelf.v']);
  });

  it('does not hold unchanged parts against an update', () => {
    const schema = object({ a: withRules({ type: 'string' }, 'self == "good"'), b: { type: 'string' } });
    expect(texts({ a: 'bad', b: '2' }, schema, { a: 'bad', b: '1' })).toEqual([]);
    expect(texts({ a: 'worse', b: '2' }, schema, { a: 'bad', b: '1' })).toHaveLength(1);
  });

  it.each([
    'sets.equivalent(self, self)',
    'self.distinct().size() > 0',
    'self.map(x, self.map(y, x + y)).size() > 0',
    'lists.range(1000000000).size() > 0',
  ])('ends %s on long lists', (rule) => {
    const schema = object({ l: withRules({ type: 'array', items: { type: 'integer' } }, rule) });
    const [error] = texts({ l: Array.from({ length: 5000 }, (_, i) => i) }, schema);
    expect(error).toMatch(/actual cost limit exceeded|running out of cost budget/);
  });

  it('ends expensive evaluations', () => {
    const list: Schema = { type: 'array', items: { type: 'integer' } };
    const schema = object({ l: withRules(list, 'self.all(x, self.all(y, self.exists(z, x + y + z >= 0)))') });
    // The processor's time, not the wall's: others may use the machine, too.
    const started = process.cpuUsage();
    expect(texts({ l: Array.from({ length: 3000 }, (_, i) => i) }, schema)).toEqual([
      'l: Invalid value: "array": \'operation cancelled: actual cost limit exceeded\': no further validation rules will be run due to call cost exceeds limit for rule: self.all(x, self.all(y, self.exists(z, x + y + z >= 0)))',
    ]);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(500);
  });
});

describe('rules in a CRD', () => {
  it('are checked against the schema', () => {
    const [error] = crdErrors(withRules(object({ spec: object({ a: { type: 'integer' } }) }), 'self.spec.nope == 1'));
    expect(error).toContain('spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value: {');
    expect(error).toContain("compilation failed: ERROR: <input>:1:10: undefined field 'nope'");
    expect(crdErrors(withRules(object({ a: { type: 'integer' } }), 'self.a == "x"'))[0]).toContain(
      "found no matching overload for '_==_' applied to '(int, string)'",
    );
    expect(crdErrors(withRules(object({ a: { type: 'integer' } }), 'self.a +'))[0]).toContain('Syntax error');
    expect(crdErrors(withRules(object({ a: { type: 'integer' } }), 'self.a'))[0]).toContain(
      'cel expression must evaluate to a bool',
    );
    expect(crdErrors(withRules(object({ a: { type: 'integer' } }), 'self.a > 0'))).toEqual([]);
  });

  it('may not use oldSelf where elements cannot be matched', () => {
    const schema = object({
      l: { type: 'array', maxItems: 5, items: withRules(object({ v: { type: 'integer' } }), 'self.v >= oldSelf.v') },
    });
    expect(crdErrors(schema)).toEqual([
      'spec.validation.openAPIV3Schema.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self.v >= oldSelf.v": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[l]',
    ]);
  });

  it('must be affordable', () => {
    const list = (maxItems?: number): Schema =>
      object({
        l: withRules(
          { type: 'array', items: { type: 'string', maxLength: 20 }, ...(maxItems ? { maxItems } : {}) },
          'self.all(x, self.exists_one(y, x == y))',
        ),
      });
    expect(crdErrors(list())[0]).toContain('estimated rule cost exceeds budget by factor of more than 100x');
    expect(crdErrors(list(100))).toEqual([]);
  });

  it('hold for defaults too', () => {
    const schema = object({
      a: withRules({ type: 'integer', default: 1 }, { rule: 'self > 5', message: 'too small' }),
    });
    expect(crdErrors(schema)).toEqual([
      'spec.validation.openAPIV3Schema.properties[a].default: Invalid value: 1: too small',
    ]);
  });
});

it('escapes names as Kubernetes does', () => {
  expect(['a-b', 'a.b/c', 'in', 'x__y', '1a', 'ok'].map(escapeName)).toEqual([
    'a__dash__b',
    'a__dot__b__slash__c',
    '__in__',
    'x__underscores__y',
    undefined,
    'ok',
  ]);
});

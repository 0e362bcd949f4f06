// Expressions made to hold the process or to fill its memory: each is refused or ended soon.
import { describe, expect, it } from 'vitest';
import { admissionEnvironment, admissionVariables, compileAdmission } from './admission-environment.ts';

const object = {
  text: 'a'.repeat(1_000_000),
  spaces: `a${' '.repeat(1_000_000)}a`,
  numbers: Array.from({ length: 20_000 }, (_, i) => i),
  texts: Array.from({ length: 5_000 }, (_, i) => 'x'.repeat(100) + i),
};

const compiled = (source: string) => compileAdmission(source, admissionEnvironment({}));
const run = (source: string) => compiled(source).run(admissionVariables({ object }));
const steps = (count: number, each: (name: string) => string) =>
  Array.from({ length: count }, (_, i) => each(`a${i}`)).join('');

const TOO_DEEP = 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250';

describe('limits of expressions', () => {
  it.each([
    ['sums', `1${'+1'.repeat(20_000)}`],
    ['products', `1${'*1'.repeat(250)}`],
    ['comparisons', `1${'==1'.repeat(250)}`],
    ['selections', `object${'.a'.repeat(250)}`],
    ['indexes', `object${'[0]'.repeat(20_000)}`],
    ['calls', `''${'.trim()'.repeat(10_000)}`],
  ])('refuse chains of %s as deep nesting, as upstream does', (_, source) => {
    expect(() => compiled(source)).toThrow(TOO_DEEP);
  });

  it('take chains that are shorter', () => {
    expect(run(`1${'+1'.repeat(240)}`).value).toBe(241n);
    expect(() => compiled(`object${'.a'.repeat(150)}${'+1'.repeat(150)}`)).toThrow('max recursion depth exceeded');
  });

  it('name the first hundred problems', () => {
    expect(() => compiled('#'.repeat(90_000))).toThrow(/1 more errors were truncated$/);
  });

  it('refuse types that double with each step', () => {
    const doubled = steps(40, (name) => `.map(${name}, {${name}: ${name}})`);
    expect(() => compiled(`[{1: 1}]${doubled} == 1`)).toThrow('the type of the expression is too large');
  });

  it.each([
    ['compares what doubles', `[[1]]${steps(40, (a) => `.map(${a}, [${a}, ${a}])`)}.map(z, z == z)[0]`],
    ['writes what doubles', `[[1]]${steps(40, (a) => `.map(${a}, [${a}, ${a}])`)}.map(z, '%s'.format([z]))[0]`],
    ['copies a list that doubles', `[[1]]${steps(40, (a) => `.map(${a}, ${a} + ${a})`)}[0].reverse()`],
    ['counts to a billion', 'lists.range(1000000000).size()'],
    ['flattens a product', 'object.numbers.map(a, object.numbers).flatten().size()'],
    ['joins long texts', "object.texts.map(a, object.text).join(',').size()"],
    ['adds long texts', "object.texts.map(a, object.text + a).all(x, !x.contains('b'))"],
    ['replaces by long texts', "object.texts.map(a, a.replace('x', object.text)).size()"],
    ['replaces all of a long text', "object.text.replace('a', object.text).size()"],
    ['looks from behind', "object.text.lastIndexOf(object.text.substring(1, 500000) + 'b')"],
    ['looks from ahead', "object.text.indexOf('b' + object.text.substring(1, 500000))"],
  ])('end one that %s', (_, source) => {
    expect(run(source).value).toMatchObject({ message: 'operation cancelled: actual cost limit exceeded' });
  });

  it('trim a text in one pass', () => {
    expect(run('object.spaces.trim() == object.spaces').value).toBe(true);
    expect(run("'\\t a b\\u0085 '.trim()").value).toBe('a b');
  });
});

import { describe, expect, it } from 'vitest';
import { extend } from './check/environment.ts';
import { DYN } from './check/type.ts';
import { baseEnvironment, compile } from './engine.ts';
import { jsonValue } from './values/json.ts';
import { show } from './values/show.ts';
import { CelError } from './values/value.ts';

const env = extend(baseEnvironment(), { self: DYN });
const self = jsonValue({ n: 5, d: 1.5, s: 'hello', list: [3, 1, 2], texts: ['b', 'a'], map: { k: 1 }, nothing: null });

function run(source: string) {
  return compile(source, env).run((name) => (name === 'self' ? self : undefined));
}

function problem(source: string): string {
  try {
    const { value } = run(source);
    return value instanceof CelError ? value.message : `no problem: ${show(value)}`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('values', () => {
  it.each([
    // Numbers: 64 bits, no mixing in arithmetic, mixing in comparisons.
    ['9223372036854775807 > 0 && -9223372036854775808 < 0 && 0x1F == 31', 'true'],
    ['7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1 && 7u / 2u == 3u', 'true'],
    ['1 < 1.5 && 2u > 1 && 1.0 == dyn(1) && dyn(1u) == 1', 'true'],
    ['int(3.9) == 3 && int("-5") == -5 && uint(3) == 3u && double("1e3") == 1000.0', 'true'],
    ['string(1.0) == "1" && string(1e21) == "1e+21" && string(0.1) == "0.1"', 'true'],
    // Times and durations.
    ['duration("1h30m") == duration("90m") && string(duration("1.5s")) == "1.5s"', 'true'],
    ['timestamp("2020-01-01T00:00:00Z") + duration("24h") == timestamp("2020-01-02T00:00:00Z")', 'true'],
    ['timestamp("2020-02-29T23:30:00Z").getDayOfMonth("+01:00") == 0', 'true'],
    ['timestamp("2020-07-01T12:00:00Z").getHours("America/New_York") == 8', 'true'],
    ['string(timestamp("2020-01-01T00:00:00.120Z")) == "2020-01-01T00:00:00.12Z"', 'true'],
    // Strings count characters.
    ['"日本".size() == 2 && "😀x".charAt(1) == "x" && "😀x".indexOf("x") == 1', 'true'],
    ['"a\\tb" == "a\tb" && r"\\d" == "\\\\d" && b"\\xff".size() == 1', 'true'],
    ['"x".replace("", "-") == "-x-" && "aaa".replace("a", "b", 2) == "bba"', 'true'],
    [
      '"%s is %d, %.2f, %x, %b".format([dyn("it"), dyn(5), dyn(1234.5), dyn(255), dyn(5)]) == "it is 5, 1,234.50, ff, 101"',
      'true',
    ],
    ['"abc abc".findAll("a.", 1) == ["ab"] && "x1y2".find("[0-9]") == "1"', 'true'],
    // Lists, maps, comprehensions with one and two variables.
    ['self.list.sort() == [1, 2, 3] && self.list.sortBy(x, -x) == [3, 2, 1]', 'true'],
    ['[[1], [2, 3]].flatten() == [1, 2, 3] && [1, 2, 1].distinct() == [1, 2] && lists.range(3) == [0, 1, 2]', 'true'],
    ['[10, 20].all(i, v, v == (i + 1) * 10) && {"a": 1}.transformMap(k, v, v + 1) == {"a": 2}', 'true'],
    ['[1, 2].transformMapEntry(i, v, {string(v): i}) == {"1": 0, "2": 1}', 'true'],
    ['sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])', 'true'],
    // Optional values.
    ['self.?n.orValue(0) == 5 && !self.?zz.hasValue() && self.?zz.or(optional.of(1)).value() == 1', 'true'],
    ['self.?n.optMap(x, x + 1).value() == 6 && [?self.?zz, dyn(1)] == [1] && {?"a": self.?zz}.size() == 0', 'true'],
    ['self.list[?9] == optional.none() && optional.ofNonZeroValue("") == optional.none()', 'true'],
    // Kubernetes' libraries.
    ['ip("::ffff").family() == 6 && string(cidr("10.1.2.3/8").masked()) == "10.0.0.0/8"', 'true'],
    ['quantity("1Gi").sub(quantity("1Mi")).compareTo(quantity("1023Mi")) == 0', 'true'],
    ['semver("1.0.0-rc.1").isLessThan(semver("v1", true)) && !isSemver("1.0")', 'true'],
    ['url("https://u@a.example:80/b%20c?d=e&d=f").getQuery()["d"] == ["e", "f"]', 'true'],
    ['format.dns1123Label().validate("A").value().size() == 1 && format.named("nope") == optional.none()', 'true'],
  ])('%s', (source, value) => {
    const result = run(source).value;
    expect(result instanceof CelError ? result.message : show(result)).toBe(value);
  });
});

describe('errors', () => {
  it.each([
    ['9223372036854775807 + 1', 'integer overflow'],
    ['1u - 2u', 'unsigned integer overflow'],
    ['1 / 0', 'division by zero'],
    ['self.n % 0', 'modulus by zero'],
    ['self.missing', 'no such key: missing'],
    ['self.list[7]', 'index out of bounds: 7'],
    ['self.n + self.s', 'no such overload'],
    ['self.nothing < 1', 'no such overload: _<_'],
    ['[].max()', 'max called on empty list'],
    ['optional.none().value()', 'optional.none() dereference'],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'timestamp overflow'],
    ['"abc".substring(2, 1)', 'invalid substring range. start: 2, end: 1'],
    ['[1].slice(0, 5)', 'cannot slice(0, 5), list is length 1'],
    [
      'ip("1.2.3")',
      'IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short',
    ],
    ['int("x")', "type conversion error from 'string' to 'int'"],
  ])('%s', (source, message) => expect(problem(source)).toBe(message));

  it('are left behind where the other side decides', () => {
    expect(run('self.missing == 1 || self.n == 5').value).toBe(true);
    expect(run('[1, 2].exists(x, x / 0 == 1 || x == 2)').value).toBe(true);
    expect(run('self.missing == 1 && self.n == 6').value).toBe(false);
  });
});

describe('complaints of the compiler', () => {
  it.each([
    [
      '1 + "x"',
      "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + \"x\"\n | ..^",
    ],
    [
      'foo.bar(1)',
      "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo.bar(1)\n | ^\nERROR: <input>:1:8: undeclared reference to 'bar' (in container '')\n | foo.bar(1)\n | .......^",
    ],
    ['[1, "a"]', "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"]\n | ....^"],
    ['has(self)', 'ERROR: <input>:1:5: invalid argument to has() macro\n | has(self)\n | ....^'],
    ['[1].all(1, true)', 'ERROR: <input>:1:9: argument must be a simple name\n | [1].all(1, true)\n | ........^'],
    ['"a".matches("[")', 'ERROR: <input>:1:13: invalid matches argument\n | "a".matches("[")\n | ............^'],
    [
      'duration("x") > duration("1s")',
      'ERROR: <input>:1:10: invalid duration argument\n | duration("x") > duration("1s")\n | .........^',
    ],
    [
      '"%d".format(["a"])',
      'ERROR: <input>:1:14: error during formatting: decimal clause can only be used on integers, was given string\n | "%d".format(["a"])\n | .............^',
    ],
    [
      '1.all(x, true)',
      "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | 1.all(x, true)\n | ^",
    ],
    ['namespace == 1', 'ERROR: <input>:1:1: reserved identifier: namespace\n | namespace == 1\n | ^'],
  ])('%s', (source, message) => expect(problem(source)).toBe(message));
});

describe('costs', () => {
  it.each([
    ['self.n', 2],
    ['self.n == 5 && self.d > 1.0', 6],
    ['has(self.n)', 1],
    ['self.n in [1, 2, 3]', 2],
    ['self.list.all(x, x > 0)', 18],
    ['self.s.contains("ell")', 3],
    ['self.s.matches("^h[a-z]+$")', 5],
    ['self.n > 0 ? self.s : "x"', 4],
  ])('%s', (source, cost) => expect(run(source).cost).toBe(cost));

  it('end what is too expensive, before it is done where that can be known', () => {
    const outcome = run('lists.range(1000000000).size()');
    expect(outcome).toMatchObject({
      exceeded: true,
      value: { message: 'operation cancelled: actual cost limit exceeded' },
    });
  });
});

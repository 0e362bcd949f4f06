/** Versions as github.com/blang/semver reads and orders them. */
export interface Version {
  numbers: [bigint, bigint, bigint];
  pre: string[];
}

const MAX = 2n ** 64n - 1n;

/** The version, or Go's text of what is wrong with it. `normalize` takes a leading v, leading zeros and missing parts. */
export function parseVersion(text: string, normalize: boolean): Version | string {
  if (!normalize) return parse(text);
  const parts = splitThree(text.replace(/^v/, '')).map((part) => {
    if (part.length <= 1) return part;
    const trimmed = part.replace(/^0+/, '');
    return /^\d/.test(trimmed) ? trimmed : `0${trimmed}`;
  });
  if (parts.length < 3) {
    if (/[+-]/.test(parts.at(-1) as string)) return 'short version cannot contain PreRelease/Build meta data';
    while (parts.length < 3) parts.push('0');
  }
  return parse(parts.join('.'));
}

function splitThree(text: string): string[] {
  const [first = '', second, ...rest] = text.split('.');
  if (second === undefined) return [first];
  return rest.length === 0 ? [first, second] : [first, second, rest.join('.')];
}

function parse(text: string): Version | string {
  if (text === '') return 'Version string empty';
  const parts = splitThree(text);
  if (parts.length !== 3) return 'No Major.Minor.Patch elements found';
  const [major, minor, last] = parts as [string, string, string];
  const numbers: bigint[] = [];
  for (const [name, part] of [
    ['Major', major],
    ['Minor', minor],
  ] as const) {
    const number = parseNumber(name, part);
    if (typeof number === 'string') return number;
    numbers.push(number);
  }
  let patch = last;
  let build: string[] = [];
  let pre: string[] = [];
  const plus = patch.indexOf('+');
  if (plus >= 0) {
    build = patch.slice(plus + 1).split('.');
    patch = patch.slice(0, plus);
  }
  const dash = patch.indexOf('-');
  if (dash >= 0) {
    pre = patch.slice(dash + 1).split('.');
    patch = patch.slice(0, dash);
  }
  const number = parseNumber('Patch', patch);
  if (typeof number === 'string') return number;
  numbers.push(number);
  const problem = pre.map(preProblem).find(Boolean) ?? build.map(buildProblem).find(Boolean);
  return problem ?? { numbers: numbers as [bigint, bigint, bigint], pre };
}

function parseNumber(name: string, text: string): bigint | string {
  if (!/^\d*$/.test(text)) return `Invalid character(s) found in ${name.toLowerCase()} number ${JSON.stringify(text)}`;
  if (text.length > 1 && text.startsWith('0'))
    return `${name} number must not contain leading zeroes ${JSON.stringify(text)}`;
  if (text === '') return 'strconv.ParseUint: parsing "": invalid syntax';
  const value = BigInt(text);
  return value > MAX ? `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range` : value;
}

function preProblem(text: string): string | undefined {
  if (text === '') return 'Prerelease is empty';
  if (/^\d+$/.test(text)) {
    if (text.length > 1 && text.startsWith('0')) {
      return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(text)}`;
    }
    return BigInt(text) > MAX ? `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range` : undefined;
  }
  return /^[0-9A-Za-z-]+$/.test(text) ? undefined : `Invalid character(s) found in prerelease ${JSON.stringify(text)}`;
}

function buildProblem(text: string): string | undefined {
  if (text === '') return 'Build meta data is empty';
  return /^[0-9A-Za-z-]+$/.test(text)
    ? undefined
    : `Invalid character(s) found in build meta data ${JSON.stringify(text)}`;
}

export function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const [x, y] = [a.numbers[i] as bigint, b.numbers[i] as bigint];
    if (x !== y) return x < y ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (let i = 0; i < Math.min(a.pre.length, b.pre.length); i++) {
    const [x, y] = [a.pre[i] as string, b.pre[i] as string];
    if (x === y) continue;
    const [m, n] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (m && n) return BigInt(x) < BigInt(y) ? -1 : 1;
    if (m !== n) return m ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return Math.sign(a.pre.length - b.pre.length);
}

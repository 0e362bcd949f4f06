/** `semver("1.2.3")`: strict by default; `semver(text, true)` accepts a leading v, missing parts and leading zeros. */
import type { Library } from '../engine.ts';

const STRICT =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

class Semver {
  readonly numbers: bigint[];
  readonly pre: string[];

  constructor(numbers: bigint[], pre: string[]) {
    this.numbers = numbers;
    this.pre = pre;
  }

  toString(): string {
    return this.numbers.join('.') + (this.pre.length > 0 ? `-${this.pre.join('.')}` : '');
  }
}

function normalized(text: string): string {
  const bare = text.replace(/^v/, '');
  const at = bare.search(/[-+]/);
  const [core, rest] = at < 0 ? [bare, ''] : [bare.slice(0, at), bare.slice(at)];
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  if (rest === '') while (parts.length < 3) parts.push('0');
  return parts.join('.') + rest;
}

function parse(text: string, normalize = false): Semver | undefined {
  const match = STRICT.exec(normalize ? normalized(text) : text);
  if (match === null) return undefined;
  return new Semver(match.slice(1, 4).map(BigInt), match[4]?.split('.') ?? []);
}

function compare(a: Semver, b: Semver): number {
  for (let i = 0; i < 3; i++) {
    const [x, y] = [a.numbers[i] as bigint, b.numbers[i] as bigint];
    if (x !== y) return x < y ? -1 : 1;
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (let i = 0; i < Math.min(a.pre.length, b.pre.length); i++) {
    const [x, y] = [a.pre[i] as string, b.pre[i] as string];
    if (x === y) continue;
    const [m, n] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (m && n) return Number(x) < Number(y) ? -1 : 1;
    if (m !== n) return m ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return Math.sign(a.pre.length - b.pre.length);
}

export function registerSemver(library: Library): void {
  const type = 'kubernetes.Semver';
  library.environment.registerType(type, Semver as never);
  const made = (text: string, normalize?: boolean) =>
    parse(text, normalize) ?? library.fail('No Major.Minor.Patch elements found');
  library
    .add('isSemver(string): bool', (text: string) => parse(text) !== undefined)
    .add('isSemver(string, bool): bool', (text: string, normalize: boolean) => parse(text, normalize) !== undefined)
    .add(`semver(string): ${type}`, (text: string) => made(text))
    .add(`semver(string, bool): ${type}`, made)
    .add(`${type}.major(): int`, (v: Semver) => v.numbers[0])
    .add(`${type}.minor(): int`, (v: Semver) => v.numbers[1])
    .add(`${type}.patch(): int`, (v: Semver) => v.numbers[2])
    .add(`${type}.compareTo(${type}): int`, (a: Semver, b: Semver) => BigInt(compare(a, b)))
    .add(`${type}.isLessThan(${type}): bool`, (a: Semver, b: Semver) => compare(a, b) < 0)
    .add(`${type}.isGreaterThan(${type}): bool`, (a: Semver, b: Semver) => compare(a, b) > 0);
  library.environment.registerOperator(`${type} == ${type}`, (a: Semver, b: Semver) => compare(a, b) === 0);
}

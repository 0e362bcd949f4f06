/** Kubernetes' order of version names: GA before beta before alpha, newer first, strange names last by alphabet. */

const FORM = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;

/** [stage, major, minor]; a higher tuple comes first. */
function rank(version: string): [number, number, number] | undefined {
  const match = FORM.exec(version);
  if (!match) return undefined;
  const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}

/** For `sort`: the preferred version first. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a);
  const right = rank(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
}

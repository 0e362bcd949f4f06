/** Versions of tools and of Kubernetes, as far as choosing between them needs it: numbers, order, ranges. */
import { RookeryError } from '../errors.ts';

/** `[1, 35, 8]`; of k3s, which releases a Kubernetes version more than once, `[1, 35, 0, 1]` for `v1.35.0+k3s1`. */
export type Version = readonly [major: number, minor: number, patch: number, build?: number];

/** What was asked for: a minor, one exact patch, or one release of k3s. */
export interface WantedVersion {
  major: number;
  minor: number;
  patch?: number;
  build?: number;
}

const VERSION = String.raw`(\d+)\.(\d+)\.(\d+)(?:[-+]k3s(\d+))?`;

/** The first version in a text such as `kind v0.33.0 go1.27 linux/amd64` or `k3s version v1.35.0+k3s1 (a6c6cd15)`. */
export function findVersion(text: string): Version | undefined {
  return numbers(new RegExp(VERSION).exec(text));
}

/** The version that a text is, with nothing before or after it: `v1.36.0-rc.1` and `v1.35.0-k3s1-arm64` are none. */
export function exactVersion(text: string): Version | undefined {
  return numbers(new RegExp(`^v?${VERSION}$`).exec(text));
}

function numbers(found: RegExpExecArray | null): Version | undefined {
  if (!found) return undefined;
  const [major, minor, patch, build] = found.slice(1).map(Number) as [number, number, number, number];
  return found[4] === undefined ? [major, minor, patch] : [major, minor, patch, build];
}

export function compareVersions(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || (a[3] ?? 0) - (b[3] ?? 0);
}

export function versionText([major, minor, patch, build]: Version): string {
  return `v${major}.${minor}.${patch}${build === undefined ? '' : `+k3s${build}`}`;
}

/** Tags of images cannot hold a `+`. */
export function imageTag(version: string): string {
  return version.replace('+', '-');
}

/** `>=0.29.0 <0.34.0`: all parts must hold. */
export function inRange(version: Version, range: string): boolean {
  return range.split(/\s+/).every((part) => {
    const bound = findVersion(part);
    if (!bound) throw new Error(`not a range: ${range}`);
    const order = compareVersions(version, bound);
    if (part.startsWith('>=')) return order >= 0;
    if (part.startsWith('<')) return order < 0;
    return order === 0;
  });
}

/** `1.35`, `v1.35`, an exact `v1.35.8` or `v1.35.0+k3s1`; another pre-release or build is refused, for nothing may stand in for it. */
export function parseWanted(text: string): WantedVersion {
  const found = /^v?(\d+)\.(\d+)(?:\.(\d+)(?:[-+]k3s(\d+))?)?$/.exec(text);
  if (!found) {
    throw new RookeryError('version.form', `${JSON.stringify(text)} is no Kubernetes version that can be chosen here`, {
      class: 'user',
      hint: 'use a minor such as 1.35 (its newest patch that can be had) or an exact patch such as v1.35.8',
    });
  }
  const [, major, minor, patch, build] = found;
  return {
    major: Number(major),
    minor: Number(minor),
    ...(patch ? { patch: Number(patch) } : {}),
    ...(build ? { build: Number(build) } : {}),
  };
}

export function matches(version: Version, wanted: WantedVersion): boolean {
  const [major, minor, patch, build] = version;
  return (
    major === wanted.major &&
    minor === wanted.minor &&
    (wanted.patch === undefined || patch === wanted.patch) &&
    (wanted.build === undefined || build === wanted.build)
  );
}

/** Versions of tools and of Kubernetes, as far as choosing between them needs it: numbers, order, ranges. */
import { RookeryError } from '../errors.ts';

/** `[1, 35, 8]`. */
export type Version = readonly [number, number, number];

/** What was asked for: a minor, or one exact patch. */
export interface WantedVersion {
  major: number;
  minor: number;
  patch?: number;
}

/** The first version in a text such as `kind v0.33.0 go1.27 linux/amd64`. */
export function findVersion(text: string): Version | undefined {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : undefined;
}

export function compareVersions(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

export function versionText(version: Version): string {
  return `v${version.join('.')}`;
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

/** `1.35`, `v1.35` or an exact `v1.35.8`; a pre-release or build is refused, for nothing may stand in for it. */
export function parseWanted(text: string): WantedVersion {
  const found = /^v?(\d+)\.(\d+)(?:\.(\d+))?$/.exec(text);
  if (!found) {
    throw new RookeryError('version.form', `${JSON.stringify(text)} is no Kubernetes version that can be chosen here`, {
      class: 'user',
      hint: 'use a minor such as 1.35 (its newest patch that can be had) or an exact patch such as v1.35.8',
    });
  }
  const [, major, minor, patch] = found;
  return { major: Number(major), minor: Number(minor), ...(patch ? { patch: Number(patch) } : {}) };
}

export function matches(version: Version, wanted: WantedVersion): boolean {
  const [major, minor, patch] = version;
  return major === wanted.major && minor === wanted.minor && (wanted.patch === undefined || patch === wanted.patch);
}

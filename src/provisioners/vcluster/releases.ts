/** Which releases of vcluster our objects are written for, and which Kubernetes each of them brings. */
import { RookeryError } from '../../errors.ts';
import {
  compareVersions,
  findVersion,
  inRange,
  matches,
  parseWanted,
  type Version,
  versionText,
} from '../../tools/versions.ts';

/** The release whose chart our objects are compared with on the bed. */
export const DEFAULT_VCLUSTER = '0.34.0';
/** Releases that read the same configuration. */
const RANGE = '>=0.34.0 <0.35.0';
const DEFAULT_MINOR = '1.35';
/** One image of each minor is released with vcluster; others exist under their own tags. */
const KUBERNETES: readonly Version[] = [
  [1, 35, 0],
  [1, 34, 0],
  [1, 33, 4],
  [1, 32, 1],
  [1, 31, 1],
  [1, 30, 2],
];

/** `0.34.0`; throws for one we have no objects for. */
export function vclusterRelease(wanted: string = DEFAULT_VCLUSTER): string {
  const version = findVersion(wanted);
  if (!version || !inRange(version, RANGE)) {
    throw new RookeryError('version.unavailable', `Rookery has no objects for vcluster ${wanted}`, {
      class: 'user',
      hint: `choose a release that is ${RANGE}, such as ${DEFAULT_VCLUSTER}`,
    });
  }
  return versionText(version).slice(1);
}

/** A minor is the patch released with vcluster; an exact patch is taken as it is, if vcluster knows its minor. */
export function kubernetesRelease(wanted: string = DEFAULT_MINOR): string {
  const asked = parseWanted(wanted);
  const known = KUBERNETES.find((version) => matches(version, { major: asked.major, minor: asked.minor }));
  if (!known || asked.build !== undefined) {
    throw new RookeryError('version.unavailable', `Kubernetes ${wanted} cannot be had from vcluster`, {
      class: 'user',
      hint: `choose one of ${KUBERNETES.map(versionText).join(', ')}, or another patch of those minors`,
    });
  }
  return versionText([asked.major, asked.minor, asked.patch ?? known[2]]);
}

/** Why a cluster may not go from one version to the other; undefined when it may. */
export function whyNotUpgrade(what: string, from: string | undefined, to: string): string | undefined {
  const [before, after] = [findVersion(from ?? ''), findVersion(to)];
  if (!before || !after) return undefined;
  if (compareVersions(after, before) < 0) return `${what} ${from} cannot go back to ${to}`;
  const steps = after[1] - before[1];
  return steps > 1 ? `${what} ${from} cannot go to ${to} at once: that skips ${steps - 1} minor` : undefined;
}

/** Kubernetes versions: compared, and counted over machines. */
import type { KubeObject } from '../../api/object.ts';

export interface VersionCount {
  version: string;
  replicas: number;
}

interface Version {
  numbers: [number, number, number];
  pre: string;
  build: string;
}

/** Tolerant, as providers are: `1.35`, `v1.35.0`, `v1.35.0+k3s1`. Undefined when it is none. */
export function parseVersion(text: string): Version | undefined {
  const found = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/.exec(text.trim());
  if (!found) return undefined;
  const [, major, minor, patch = '0', pre = '', build = ''] = found;
  return { numbers: [Number(major), Number(minor), Number(patch)], pre, build };
}

/** Below, at or above zero; build metadata counts, as a rebuild of a version has to be rolled out too. */
export function compareVersions(a: Version, b: Version): number {
  const at = a.numbers.findIndex((number, index) => number !== b.numbers[index]);
  if (at >= 0) return (a.numbers[at] as number) - (b.numbers[at] as number);
  if (a.pre !== b.pre) {
    if (!a.pre || !b.pre) return a.pre ? -1 : 1;
    return comparePieces(a.pre, b.pre);
  }
  return a.build === b.build ? 0 : comparePieces(a.build, b.build) || 1;
}

function comparePieces(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** How many machines have which version, oldest first: what the node says counts more than what was asked for. */
export function versionsOfMachines(machines: KubeObject[]): VersionCount[] | undefined {
  return sumVersions(
    machines.map(({ spec, status }) => ({
      version: status?.nodeInfo?.kubeletVersion || spec?.version || '',
      replicas: 1,
    })),
  );
}

export function sumVersions(counts: VersionCount[]): VersionCount[] | undefined {
  const sums = new Map<string, number>();
  for (const { version, replicas } of counts) {
    if (version) sums.set(version, (sums.get(version) ?? 0) + (replicas ?? 0));
  }
  if (sums.size === 0) return undefined;
  const order = (version: string) => parseVersion(version) ?? { numbers: [0, 0, 0] as const, pre: '', build: version };
  return [...sums]
    .map(([version, replicas]) => ({ version, replicas }))
    .sort((a, b) => compareVersions(order(a.version) as Version, order(b.version) as Version));
}

/** A pod held against a level. */
import * as baseline from './baseline.ts';
import type { PodLike } from './pod.ts';
import type { LevelVersion } from './policy.ts';
import * as restricted from './restricted.ts';
import type { Violation } from './wording.ts';

/** The newest rules there are; what asks for newer ones is held to these. */
const NEWEST_MINOR = 35;

/** By name, as upstream orders them: messages depend on it. */
const BASELINE: readonly baseline.Check[] = [
  baseline.appArmorProfile,
  baseline.capabilities,
  baseline.hostNamespaces,
  baseline.hostPathVolumes,
  baseline.hostPorts,
  baseline.hostProbesAndHostLifecycle,
  baseline.privileged,
  baseline.procMount,
  baseline.seLinuxOptions,
  baseline.seccompProfile,
  baseline.sysctls,
  baseline.windowsHostProcess,
];

const RESTRICTED: readonly baseline.Check[] = [
  restricted.allowPrivilegeEscalation,
  restricted.restrictedCapabilities,
  (spec, pod, minor) => (minor >= 35 ? baseline.anyProcMount(spec, pod, minor) : undefined),
  restricted.restrictedVolumes,
  restricted.runAsNonRoot,
  restricted.runAsUser,
  restricted.restrictedSeccompProfile,
];

/** Baseline rules that a stricter one of the same kind takes the place of, and since when. */
const REPLACED = new Map<baseline.Check, number>([
  [baseline.capabilities, 22],
  [baseline.hostPathVolumes, 0],
  [baseline.procMount, 35],
  [baseline.seccompProfile, 19],
]);

export function violationsOf({ level, minor: wanted }: LevelVersion, pod: PodLike): Violation[] {
  if (level === 'privileged') return [];
  const minor = Math.min(wanted, NEWEST_MINOR);
  const checks =
    level === 'baseline'
      ? BASELINE
      : [...BASELINE.filter((check) => minor < (REPLACED.get(check) ?? Number.POSITIVE_INFINITY)), ...RESTRICTED];
  return checks.flatMap((check) => check(pod.spec ?? {}, pod, minor) ?? []);
}

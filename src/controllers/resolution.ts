/** What a version was taken to mean, which changes of it are refused, and what a refusal looks like. */
import type { KubeObject } from '../api/object.ts';
import type { RookeryError } from '../errors.ts';
import type { Progress, Resolution } from '../provisioners/provisioner.ts';
import { compareVersions, findVersion } from '../tools/versions.ts';

export type Resolved = Resolution & { requested: string };

/** The version or image in a spec, as it is written there. */
export function requestedOf(object: KubeObject): string {
  return object.spec?.image ?? object.spec?.kubernetesVersion ?? '';
}

/** Kubernetes goes up, one minor at a time. */
export function refusedUpgrade(from: string | undefined, to: string | undefined): Progress | undefined {
  const [old, wanted] = [findVersion(from ?? ''), findVersion(to ?? '')];
  if (!old || !wanted) return undefined;
  const refused = (message: string, next: string): Progress => ({
    phase: 'refused',
    reason: 'UpgradeRefused',
    message,
    next,
  });
  if (compareVersions(wanted, old) < 0) {
    return refused(`Kubernetes ${from} cannot go back to ${to}`, `ask for ${from} or later, or make a second cluster`);
  }
  if (wanted[0] !== old[0] || wanted[1] > old[1] + 1) {
    const step = `${old[0]}.${old[1] + 1}`;
    return refused(`from ${from} to ${to} is more than one minor`, `upgrade to ${step} first`);
  }
  return undefined;
}

const REASONS: Record<string, string> = {
  'docker.unreachable': 'DockerUnreachable',
  'tool.missing': 'ToolMissing',
  'tool.timeout': 'EngineSlow',
  'version.unavailable': 'VersionUnavailable',
};

/** Trouble as an answer: what, and what helps. */
export function progressOf(error: RookeryError): Progress {
  const camel = error.code.replace(/(^|[.-])([a-z])/g, (_all, _dot, letter: string) => letter.toUpperCase());
  return {
    phase: error.retry ? 'blocked' : 'refused',
    reason: REASONS[error.code] ?? camel,
    message: error.message,
    next: `${error.hint ?? 'see `rookery doctor`'}; looked again every 15 s`,
    lookAgainMs: 15_000,
  };
}

export function taken(object: KubeObject, older: KubeObject, outsideName: string): Progress {
  const { namespace, name } = older.metadata;
  return {
    phase: 'refused',
    reason: 'NameTaken',
    message: `${object.kind} ${namespace}/${name} has asked for the cluster ${outsideName} before`,
    next: 'choose another one; this one goes on when the other is deleted',
    lookAgainMs: 10_000,
  };
}

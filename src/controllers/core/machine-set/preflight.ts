/**
 * Checks before a machine is made: a worker that joins a control plane in the middle of an upgrade, or one with a
 * version the control plane does not talk to, would fail in ways that are hard to see later.
 */
import type { KubeObject } from '../../../api/object.ts';
import { TerminalError } from '../../../kube/index.ts';
import { ANNOTATION } from '../names.ts';
import type { Reference } from '../provider-kinds.ts';
import { compareVersions, parseVersion } from '../versions.ts';
import type { MachineSetScope } from './machine-set-scope.ts';

export const PREFLIGHT_CHECKS = [
  'All',
  'KubeadmVersionSkew',
  'KubernetesVersionSkew',
  'ControlPlaneIsStable',
  'ControlPlaneVersionSkew',
] as const;

const OLDER_MINORS = 3;

/** What speaks against a new machine; empty: nothing. */
export async function preflightProblems(scope: MachineSetScope): Promise<string[]> {
  const { core, cluster, draft, signal } = scope;
  const skipped = await skippedChecks(scope);
  const reference: Reference | undefined = cluster.spec?.controlPlaneRef;
  if (!reference || skipped.has('All')) return [];
  const controlPlane = await core.externals.get(reference, cluster.metadata.namespace, signal);
  if (!controlPlane) throw new TerminalError(`${reference.kind} ${reference.name} does not exist`);
  const wanted: string | undefined = controlPlane.spec?.version;
  // One that has no versions cannot be in the middle of changing them.
  if (wanted === undefined) return [];
  const problems: (string | undefined)[] = [];
  if (!skipped.has('ControlPlaneIsStable')) problems.push(unstable(controlPlane, wanted));
  const version: string | undefined = draft.spec.template.spec.version;
  if (version) {
    if (!skipped.has('KubernetesVersionSkew')) problems.push(skew(version, wanted));
    const usesKubeadm = draft.spec.template.spec.bootstrap?.configRef?.kind === 'KubeadmConfigTemplate';
    if (usesKubeadm && !skipped.has('KubeadmVersionSkew')) problems.push(kubeadmSkew(version, wanted));
  }
  return problems.filter((problem) => problem !== undefined);
}

async function skippedChecks({ core, draft, signal }: MachineSetScope): Promise<Set<string>> {
  let text: string | undefined = draft.metadata.annotations?.[ANNOTATION.skipPreflight];
  const reference: Reference | undefined = draft.spec.template.spec.bootstrap?.configRef;
  if (!text && reference) {
    const template = await core.externals.get(reference, draft.metadata.namespace, signal);
    text = template?.metadata.annotations?.[ANNOTATION.skipPreflight];
  }
  return new Set((text ?? '').split(',').map((name) => name.trim()));
}

function unstable(controlPlane: KubeObject, wanted: string): string | undefined {
  const { versions, version } = controlPlane.status ?? {};
  const current: string[] = versions?.length
    ? versions.map((entry: { version: string }) => entry.version)
    : [version].filter(Boolean);
  const name = `${controlPlane.kind} ${controlPlane.metadata.namespace}/${controlPlane.metadata.name}`;
  const failed = '("ControlPlaneIsStable" preflight check failed)';
  if (current.length === 0) return `${name} is provisioning ${failed}`;
  const target = parsed(wanted);
  return current.some((is) => compareVersions(target, parsed(is)) > 0) ? `${name} is upgrading ${failed}` : undefined;
}

function skew(version: string, controlPlane: string): string | undefined {
  const [machine, plane] = [parsed(version).numbers[1], parsed(controlPlane).numbers[1]];
  const pair = `MachineSet version (${version}) and ControlPlane version (${controlPlane})`;
  const failed = '("KubernetesVersionSkew" preflight check failed)';
  if (machine > plane) return `${pair}: a node may not be newer than its control plane ${failed}`;
  if (machine < plane - OLDER_MINORS) {
    return `${pair}: a node may be at most ${OLDER_MINORS} minor versions older than its control plane ${failed}`;
  }
  return undefined;
}

function kubeadmSkew(version: string, controlPlane: string): string | undefined {
  if (parsed(version).numbers[1] === parsed(controlPlane).numbers[1]) return undefined;
  const pair = `MachineSet version (${version}) and ControlPlane version (${controlPlane})`;
  return `${pair}: kubeadm only joins nodes of the same minor version ("KubeadmVersionSkew" preflight check failed)`;
}

function parsed(version: string) {
  const found = parseVersion(version);
  if (!found) throw new TerminalError(`${version} is no Kubernetes version`);
  return found;
}

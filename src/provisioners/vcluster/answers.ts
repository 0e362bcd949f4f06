/** What the provisioner says when something is in the way: what it is, what helps, when it is tried again. */
import { RookeryError } from '../../errors.ts';
import type { Progress } from '../provisioner.ts';
import { hostError } from './host-clusters.ts';

const RECHECK_MS = 15_000;

const REASONS: Record<string, string> = {
  'host.missing': 'HostMissing',
  'host.kubeconfig': 'HostKubeconfigInvalid',
  'host.unreachable': 'HostUnreachable',
  'host.unauthorized': 'HostUnauthorized',
  'host.forbidden': 'HostForbidden',
  'host.roles': 'RolesForbidden',
  'host.quota': 'QuotaExceeded',
  'host.terminating': 'NamespaceTerminating',
  'host.invalid': 'ObjectRefused',
  'host.conflict': 'Conflict',
  'version.unavailable': 'VersionUnavailable',
  'version.form': 'VersionUnavailable',
  'vcluster.values': 'ValuesRefused',
};

export const reasonOf = (error: RookeryError): string => REASONS[error.code] ?? 'HostRefused';

/** Trouble with the host is an answer. */
export async function answered(work: () => Promise<Progress>): Promise<Progress> {
  try {
    return await work();
  } catch (thrown) {
    const error = hostError(thrown);
    if (!(error instanceof RookeryError)) throw error;
    const reason = reasonOf(error);
    // Two who write at once, or a namespace that goes: over in a moment.
    const isShort = reason === 'Conflict' || reason === 'NamespaceTerminating';
    const lookAgainMs = isShort ? 1000 : 10_000;
    const next = `${error.hint ? `${error.hint}; ` : ''}tried again every ${lookAgainMs / 1000} s`;
    return { phase: error.retry ? 'blocked' : 'refused', reason, message: error.message, next, lookAgainMs };
  }
}

export const taken = (whose: string): Progress => ({
  phase: 'refused',
  reason: 'NameTaken',
  message: whose,
  next: 'choose another clusterName and namespace in a new object; this one goes on when the place is free',
  lookAgainMs: RECHECK_MS,
});

export const refusedUpgrade = (why: string): Progress & { phase: 'refused' } => ({
  phase: 'refused',
  reason: 'UpgradeRefused',
  message: why,
  next: 'ask for a version in between, or the one it has; the cluster goes on as it is',
  lookAgainMs: RECHECK_MS,
});

export const nothingKept = (name: string): Progress => ({
  phase: 'refused',
  reason: 'NoPersistence',
  message: `${name} has no volume (persistence.enabled is false): stopped, it would lose everything`,
  next: 'leave it running, or delete it',
});

export const terminating = (namespace: string): Progress => ({
  phase: 'working',
  reason: 'NamespaceTerminating',
  message: `namespace ${namespace} of the host is being deleted; it is made again after that`,
  lookAgainMs: 1000,
});

export const unfitHost = (why: string): Progress => ({
  phase: 'refused',
  reason: 'HostUnfit',
  message: why,
  next: 'choose a host with real nodes, made by kind, k3d, k3s or kubeadm',
});

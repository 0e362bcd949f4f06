/** Templates of machines: which changes need new machines, and which reach the ones there are. */
import type { KubeObject } from '../../api/object.ts';
import { isSame } from '../../kube/merge-patch.ts';
import type { Reference } from './provider-kinds.ts';

/** `spec.template` of a MachineSet or MachineDeployment. */
export interface MachineTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: KubeObject['spec'];
}

/** Fields that reach existing machines; everything else of a spec is fixed at birth. */
const IN_PLACE = ['readinessGates', 'minReadySeconds', 'taints', 'deletion'] as const;

/** Why machines made from `current` have to be replaced to be as `desired` has them. */
export function templateDifferences(current: MachineTemplate, desired: MachineTemplate): string[] {
  const [a, b] = [current.spec, desired.spec];
  const differences: string[] = [];
  if (a.version !== b.version) differences.push(`Version ${a.version ?? ''}, ${b.version ?? ''} required`);
  if (!isSame(a.bootstrap, b.bootstrap)) {
    const reference: Reference | undefined = a.bootstrap?.configRef;
    differences.push(
      reference
        ? notUpToDate(reference)
        : `spec.bootstrap.dataSecretName ${a.bootstrap?.dataSecretName ?? ''}, ${b.bootstrap?.dataSecretName ?? ''} required`,
    );
  }
  if (!isSame(a.infrastructureRef, b.infrastructureRef)) differences.push(notUpToDate(a.infrastructureRef));
  if ((a.failureDomain ?? '') !== (b.failureDomain ?? '')) {
    differences.push(`Failure domain ${a.failureDomain ?? ''}, ${b.failureDomain ?? ''} required`);
  }
  return differences;
}

function notUpToDate(reference: Reference): string {
  return `${reference.kind.replace(/Template$/, '')} is not up-to-date`;
}

/** `spec` with the fields that propagate in place taken from `from`. */
export function withInPlaceFields(spec: KubeObject['spec'], from: KubeObject['spec']): KubeObject['spec'] {
  const result = { ...spec };
  for (const field of IN_PLACE) {
    if (from[field] === undefined) delete result[field];
    else result[field] = from[field];
  }
  return result;
}

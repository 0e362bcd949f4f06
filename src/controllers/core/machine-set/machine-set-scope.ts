/** What one reconcile of a MachineSet has found out. */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../../api/object.ts';
import type { Applied } from '../applied.ts';
import type { Core } from '../core.ts';
import { LABEL } from '../names.ts';

export interface MachineSetScope {
  core: Core;
  applied: Applied;
  /** As read. */
  set: KubeObject;
  /** As it shall be stored. */
  draft: KubeObject;
  cluster: KubeObject;
  deployment?: KubeObject;
  /** Absent when they could not be listed. */
  machines?: KubeObject[];
  /** Kinds of templates that do not exist. */
  missing: string[];
  /** Why no machine is created now. */
  preflight: string[];
  signal: AbortSignal;
}

export function wantedReplicas(set: KubeObject): number {
  return set.spec?.replicas ?? 1;
}

/** Labels of the machines, and of their bootstrap and infrastructure objects. */
export function machineLabels({ metadata, spec }: KubeObject): Record<string, string> {
  const deployment = metadata.labels?.[LABEL.deploymentName];
  return {
    ...spec.template.metadata?.labels,
    [LABEL.clusterName]: spec.clusterName,
    [LABEL.setName]: labelValue(metadata.name ?? ''),
    ...(deployment ? { [LABEL.deploymentName]: deployment } : {}),
  };
}

/** A name that is too long for a label is told by its hash. */
export function labelValue(name: string): string {
  if (name.length <= 63) return name;
  return `hash_${createHash('sha256').update(name).digest('base64url').slice(0, 16)}_z`;
}

export function machineAnnotations({ spec }: KubeObject): Record<string, string> {
  return { ...spec.template.metadata?.annotations };
}

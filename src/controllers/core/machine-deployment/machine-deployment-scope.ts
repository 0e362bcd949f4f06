/** What one reconcile of a MachineDeployment has found out. */
import type { KubeObject } from '../../../api/object.ts';
import type { Applied } from '../applied.ts';
import type { Core } from '../core.ts';

export interface DeploymentScope {
  core: Core;
  applied: Applied;
  /** As read. */
  deployment: KubeObject;
  /** As it shall be stored. */
  draft: KubeObject;
  cluster: KubeObject;
  /** Absent when they could not be listed. */
  sets?: KubeObject[];
  machines: KubeObject[];
  /** Kinds of templates that do not exist. */
  missing: string[];
  signal: AbortSignal;
}

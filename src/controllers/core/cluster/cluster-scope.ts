/** What one reconcile of a Cluster has found out. */
import type { KubeObject } from '../../../api/object.ts';
import type { Core } from '../core.ts';
import type { Found } from '../externals.ts';

export interface Descendants {
  machines: KubeObject[];
  machineSets: KubeObject[];
  machineDeployments: KubeObject[];
}

export interface ClusterScope {
  core: Core;
  /** As read. */
  cluster: KubeObject;
  /** As it shall be stored. */
  draft: KubeObject;
  infrastructure: Found;
  controlPlane: Found;
  /** Absent when they could not be listed. */
  descendants?: Descendants;
  deleting?: { reason: string; message: string };
  signal: AbortSignal;
}

export function hasEndpoint(cluster: KubeObject): boolean {
  const endpoint = cluster.spec?.controlPlaneEndpoint;
  return Boolean(endpoint?.host && endpoint.port);
}

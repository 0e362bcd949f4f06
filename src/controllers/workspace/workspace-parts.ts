/** What workspaces are made with. */
import type { KubeObject } from '../../api/object.ts';
import type { HostPolicy } from '../../provisioners/host-policy.ts';
import type { Provisioner } from '../../provisioners/provisioner.ts';
import type { ClusterWay } from '../../provisioners/registry.ts';
import type { Workload } from '../../workloads/workload.ts';

export interface WorkspaceParts {
  /** What may be done with this machine. */
  host: HostPolicy;
  /** How a nested cluster is made when the template leaves it open (`auto`). */
  chooseWay(wanted: string): Promise<ClusterWay>;
  // biome-ignore lint/suspicious/noExplicitAny: each way has a spec of its own.
  open(way: ClusterWay): Promise<Provisioner<any>>;
  /** When the workspace's owner last asked its cluster anything; undefined where nobody counts. */
  lastCallAt(way: ClusterWay, instance: KubeObject, isShared: boolean): number | undefined;
  /** All of them: what a workspace left in any is removed with it. */
  workloads: readonly Workload[];
  /** Where the shell of a workspace with such a cluster runs. */
  chooseWorkload(way: ClusterWay | undefined): Promise<Workload>;
  /** Where the terminal of a workspace is found. */
  terminalUrl(namespace: string, name: string): string | undefined;
  /** Its shells end: the workspace is suspended, removed, or goes to another step. */
  endTerminal(id: string): void;
}

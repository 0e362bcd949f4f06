/** What workspaces are made with. */
import type { ClusterWay } from '../../provisioners/registry.ts';
import type { Workload } from '../../workloads/workload.ts';

export interface WorkspaceParts {
  /** How a nested cluster is made when the template leaves it open (`auto`). */
  chooseWay(wanted: string): Promise<ClusterWay>;
  /** All of them: what a workspace left in any is removed with it. */
  workloads: readonly Workload[];
  /** Where the shell of a workspace with such a cluster runs. */
  chooseWorkload(way: ClusterWay | undefined): Promise<Workload>;
  /** Where the terminal of a workspace is found. */
  terminalUrl(namespace: string, name: string): string | undefined;
  /** Its shells end: the workspace is suspended, removed, or goes to another step. */
  endTerminal(id: string): void;
}

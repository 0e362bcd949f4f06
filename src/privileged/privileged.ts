/**
 * Everything Rookery does that needs root, behind one interface: users of their own for shells, control groups, disk quotas, and k3s on this machine. As
 * an ordinary user Rookery does all the rest. Only plain data goes in and out (but for the machine), so that this can become a process of its own.
 */
import type { Host } from '../machines/host.ts';
import type { Processes } from '../tools/processes.ts';
import type { Limited, Limits } from './control-groups.ts';
import { RootPrivileges } from './root-privileges.ts';
import { WithoutRoot } from './without-root.ts';

export interface Privileged {
  /** Why what needs root cannot be done; undefined where it can. */
  readonly refusal: string | undefined;
  /** The user number under which the shells of a workspace run, where that is not the one of Rookery. */
  shellUser(workspace: string): number | undefined;
  /** Gives a folder and everything in it to the shells of a workspace. */
  giveFolder(folder: string, workspace: string): Promise<void>;
  /** Limits CPU, memory and the number of processes; again with other limits, it changes them. */
  limit(workspace: string, limits: Limits): Promise<Limited>;
  /** Ends what still runs within the limits of a workspace, and removes them. */
  endLimits(workspace: string): Promise<void>;
  /** Removes limits that no workspace has used for long, except of those that are known. */
  sweepLimits(known: ReadonlySet<string>): Promise<void>;
  /** Limits what a workspace may write into a file system, without end for 0. Answers why it cannot, for people. */
  limitDisk(folder: string, workspace: string, bytes: number): Promise<string | undefined>;
  /** This machine, to be changed as its administrator. Throws `host.not-root` where that cannot be. */
  machine(): Host;
}

export function privilegesOf(processes: Processes, user: number | undefined = process.getuid?.()): Privileged {
  return user === 0 ? new RootPrivileges(processes) : new WithoutRoot();
}

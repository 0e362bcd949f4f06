/** Rookery runs as root: what needs it is done in this process. */
import { createHash } from 'node:crypto';
import { lchown, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Host } from '../machines/host.ts';
import { LocalHost } from '../machines/local-host.ts';
import type { Processes } from '../tools/processes.ts';
import { type Limited, type Limits, limitGroups, removeGroups, sweepGroups } from './control-groups.ts';
import { limitDisk } from './disk-quota.ts';
import type { Privileged } from './privileged.ts';

/** Above the numbers that systems hand out to people, services and containers; so many that two workspaces hardly ever share one. */
const FIRST_USER = 1_900_000_000;
const USERS = 200_000_000;

export class RootPrivileges implements Privileged {
  readonly refusal = undefined;
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  shellUser(workspace: string): number {
    return FIRST_USER + (createHash('sha256').update(workspace).digest().readUInt32BE(0) % USERS);
  }

  async giveFolder(folder: string, workspace: string): Promise<void> {
    const user = this.shellUser(workspace);
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    for (const path of [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))]) {
      await lchown(path, user, user);
    }
  }

  limit(workspace: string, limits: Limits): Promise<Limited> {
    return limitGroups(workspace, limits);
  }

  endLimits(workspace: string): Promise<void> {
    return removeGroups(workspace);
  }

  sweepLimits(known: ReadonlySet<string>): Promise<void> {
    return sweepGroups(known);
  }

  limitDisk(folder: string, workspace: string, bytes: number): Promise<string | undefined> {
    return limitDisk(this.#processes, folder, this.shellUser(workspace), bytes);
  }

  machine(): Host {
    return new LocalHost(this.#processes);
  }
}

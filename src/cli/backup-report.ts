/** When the last backup was made, for `status` and `doctor`; only where backups are made on a schedule. */
import { BackupFolder } from '../embedded/backup/backup-folder.ts';
import type { State } from '../embedded/state-file.ts';
import { age } from './output.ts';

export interface BackupReport {
  folder: string;
  everyMs: number;
  /** RFC 3339; absent before the first. */
  last?: string;
  isOverdue: boolean;
  /** The newest one lacks a store that is lost or damaged. */
  isIncomplete: boolean;
  /** One sentence, for people. */
  message: string;
}

export async function backupReport(state: State | undefined, now: number): Promise<BackupReport | undefined> {
  if (!state?.backups) return undefined;
  const { folder, everyMs } = state.backups;
  const [newest] = await new BackupFolder(folder).list();
  const since = newest ? Date.parse(newest.createdAt) : Date.parse(state.startedAt);
  const isOverdue = now - since > 2 * everyMs;
  const isIncomplete = newest?.isComplete === false;
  const last = newest ? `last ${age(newest.createdAt, now)} ago` : 'none yet';
  const troubles = [
    ...(isOverdue ? ['overdue: see the log of the control plane'] : []),
    ...(isIncomplete ? ['incomplete: see `rookery cluster list`'] : []),
  ];
  const message = [`every ${everyMs / 60_000} min, ${last}, in ${folder}`, ...troubles].join('; ');
  return { folder, everyMs, ...(newest ? { last: newest.createdAt } : {}), isOverdue, isIncomplete, message };
}

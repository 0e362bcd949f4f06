/**
 * Backups of a running control plane at regular times, by the same command that people run: in a process of its own, so that packing takes nothing from
 * requests. The newest backup in the folder says when the next one is due, so that restarts neither add backups nor put them off.
 */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { BackupFolder } from '../embedded/backup/backup-folder.ts';
import type { State } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import type { Logger } from '../telemetry/log.ts';
import { readKeyFile } from '../vault/backup-key.ts';

export interface ScheduleOptions {
  clock: Clock;
  log: Logger;
  folder: BackupFolder;
  everyMs: number;
  /** Makes one; throws when it could not, or when something is not in it. */
  run(signal: AbortSignal): Promise<void>;
}

/** A disk that was full may have room again. */
const RETRY_MS = 600_000;

export function scheduleBackups({ clock, log, folder, everyMs, run }: ScheduleOptions): () => void {
  const stop = new AbortController();
  let cancel = () => {};
  const look = async () => {
    if (stop.signal.aborted) return;
    const due = (await newest(folder)) + everyMs;
    const left = due - clock.now();
    if (left > 0) {
      cancel = clock.after(left, next);
      return;
    }
    await run(stop.signal).catch((error) => log.error('a scheduled backup failed', { error: String(error) }));
    if (stop.signal.aborted) return;
    const isMade = (await newest(folder)) + everyMs > clock.now();
    cancel = clock.after(isMade ? everyMs : Math.min(everyMs, RETRY_MS), next);
  };
  const next = () => void look().catch((error) => log.error('backups cannot be scheduled', { error: String(error) }));
  next();
  return () => {
    stop.abort();
    cancel();
  };
}

async function newest(folder: BackupFolder): Promise<number> {
  const [last] = await folder.list();
  return last ? Date.parse(last.createdAt) : 0;
}

/** Refused at the start, not at night when the first one is due. */
export function plannedBackups(config: Config): NonNullable<State['backups']> | undefined {
  const { backupEvery: everyMs, backupKeep: keep, backupKeyFile, backupFolder, home } = config;
  if (everyMs === undefined) return undefined;
  if (!backupKeyFile && !process.env.ROOKERY_BACKUP_PASSPHRASE) {
    throw new RookeryError('up.backup-key', 'scheduled backups need a key', {
      class: 'user',
      hint: 'name a key file with --backup-key-file (make one with: openssl rand -base64 48 > FILE), or set ROOKERY_BACKUP_PASSPHRASE',
    });
  }
  if (backupKeyFile) readKeyFile(backupKeyFile);
  return { folder: resolve(backupFolder ?? join(home, 'backups')), everyMs, keep };
}

export function startBackups(config: Config, planned: NonNullable<State['backups']>, log: Logger): () => void {
  const { folder, everyMs, keep } = planned;
  const key = config.backupKeyFile ? ['--key-file', resolve(config.backupKeyFile)] : [];
  const args = ['--home', config.home, 'backup', 'create', '--folder', folder, '--keep', String(keep), ...key];
  const run = (signal: AbortSignal) => runRookery(args, signal);
  return scheduleBackups({ clock: systemClock, log, folder: new BackupFolder(folder), everyMs, run });
}

/** `args`: of `rookery`. */
function runRookery(args: string[], signal: AbortSignal): Promise<void> {
  const script = process.argv[1] as string;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4096);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(said.trim() || `it ended with ${code}`))));
  });
}

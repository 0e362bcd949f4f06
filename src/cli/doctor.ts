/** `rookery doctor`: what works here, what is missing, and the command that helps. With a provisioner, ends with 1 when that cannot be used. */
import pc from 'picocolors';
import { type DiskReport, diskReport } from '../embedded/disk-report.ts';
import { readState } from '../embedded/state-file.ts';
import { checkPrivileges } from '../privileged/privilege-check.ts';
import { privilegesOf } from '../privileged/privileged.ts';
import { clusterWays } from '../provisioners/registry.ts';
import { type Check, checkHost } from '../tools/host-checks.ts';
import { systemProcesses } from '../tools/processes.ts';
import { checkShells } from '../workloads/process/shell-checks.ts';
import { type BackupReport, backupReport } from './backup-report.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { columns, print } from './output.ts';
import { availability, wayNamed } from './ways.ts';

interface DoctorOptions extends GlobalOptions {
  provisioner?: string;
}

interface Verdict {
  name: string;
  works: boolean;
  why?: string;
  fix?: string;
}

export async function doctor(options: DoctorOptions): Promise<void> {
  const home = homeOf(options);
  if (options.provisioner) wayNamed(options.provisioner);
  const disk = await diskReport(home).catch(() => undefined);
  const processes = systemProcesses();
  const privileged = privilegesOf(processes);
  const [found, shells] = await Promise.all([checkHost(processes, home.path), checkShells(processes, privileged)]);
  const host = found.map((check) => (check.name === 'disk' && disk?.state === 'full' ? fullDisk(check, disk) : check));
  const checks = [...host, checkPrivileges(privileged), ...shells];
  const backups = await backupReport(await readState(home).catch(() => undefined), Date.now());
  if (backups) checks.push(backupCheck(backups));
  const provisioners = await Promise.all(
    clusterWays.map(async (way): Promise<Verdict> => {
      const probe = await availability(way, home);
      const { name } = way;
      return probe.isUsable ? { name, works: true } : { name, works: false, why: probe.why, fix: probe.fix };
    }),
  );
  await print(options.output, { checks, provisioners }, () => {
    const rows = checks.map((check) => [MARKS[check.state], check.name, check.detail]);
    const fixes = checks.filter((check) => check.fix && check.state !== 'ok');
    const works = provisioners.map(
      ({ name, works: can, why }) => `${name}: ${can ? 'works here' : `does not work here yet: ${why}`}`,
    );
    return [
      columns(['', 'CHECK', 'FOUND'], rows),
      `${works.join('\n')}\n`,
      ...(fixes.length > 0 ? [`What helps:\n${fixes.map((check) => `  ${check.name}: ${check.fix}\n`).join('')}`] : []),
    ].join('\n');
  });
  if (provisioners.some(({ name, works }) => name === options.provisioner && !works)) process.exitCode = 1;
}

function backupCheck({ message, isOverdue, isIncomplete }: BackupReport): Check {
  const state = isOverdue || isIncomplete ? 'warn' : 'ok';
  return { name: 'backups', state, detail: message, fix: 'rookery backup create', neededBy: [] };
}

function fullDisk(check: Check, { message }: DiskReport): Check {
  return { ...check, state: 'missing', detail: message, fix: 'make room on the disk of --home (or ROOKERY_HOME)' };
}

const MARKS = { ok: pc.green('✓'), warn: pc.yellow('!'), missing: pc.red('✗') };

/** `rookery doctor`: what works here, what is missing, and the command that helps. Ends with 1 when something needed is missing. */
import pc from 'picocolors';
import { type Check, checkHost } from '../tools/host-checks.ts';
import { systemProcesses } from '../tools/processes.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { columns, print } from './output.ts';

interface DoctorOptions extends GlobalOptions {
  provisioner?: string;
}

export async function doctor(options: DoctorOptions): Promise<void> {
  const checks = await checkHost(systemProcesses(), homeOf(options).path);
  const isNeeded = (check: Check) => options.provisioner !== undefined && check.neededBy.includes(options.provisioner);
  const provisioners = ['virtual', 'kind', 'k3d'].map((name) => ({
    name,
    works: checks.every((check) => check.state !== 'missing' || !check.neededBy.includes(name)),
  }));
  await print(options.output, { checks, provisioners }, () => {
    const rows = checks.map((check) => [MARKS[check.state], check.name, check.detail]);
    const fixes = checks.filter((check) => check.fix && check.state !== 'ok');
    const works = provisioners.map(
      ({ name, works: can }) => `${name}: ${can ? 'works here' : 'does not work here yet'}`,
    );
    return [
      columns(['', 'CHECK', 'FOUND'], rows),
      `${works.join('\n')}\n`,
      ...(fixes.length > 0 ? ['What helps:\n', ...fixes.map((check) => `  ${check.name}: ${check.fix}\n`)] : []),
    ].join('\n');
  });
  if (checks.some((check) => check.state === 'missing' && isNeeded(check))) process.exitCode = 1;
}

const MARKS = { ok: pc.green('✓'), warn: pc.yellow('!'), missing: pc.red('✗') };

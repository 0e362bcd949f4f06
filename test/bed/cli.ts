// `rookery-bed`: build, list, start, stop, shell. One command per function below; the work is done elsewhere.

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Command } from 'commander';
import { build, logOf, secondsOf } from './build.ts';
import { isPresent, pathOf, unused } from './cache.ts';
import { catalog } from './catalog.ts';
import { bedEnvironment } from './environment.ts';
import { impossible } from './possibility.ts';
import { acquire, type Lease, serviceNames, stopAll } from './services/service.ts';

const stamp = (): string => new Date().toISOString().slice(11, 19);
const say = (line: string): void => console.log(`${stamp()} ${line}`);

async function buildCommand(names: string[], options: { deadline?: string }): Promise<void> {
  const wanted = names.length > 0 ? names : catalog.filter((part) => !part.optional).map((part) => part.name);
  const started = Date.now();
  const deadline = options.deadline ? Number(options.deadline) * 1000 : undefined;
  const outcomes = await build(wanted, { say, ...(deadline ? { deadline } : {}) });
  for (const outcome of outcomes)
    if ('why' in outcome) console.log(`${outcome.state}: ${outcome.part.name}: ${outcome.why.split('\n')[0]}`);
  const count = (state: string): number => outcomes.filter((outcome) => outcome.state === state).length;
  console.log(
    `bed: ${count('present')} present, ${count('built')} built, ${count('failed')} failed, ${count('impossible')} impossible, ${count('no time')} out of time, ${Math.round((Date.now() - started) / 1000)} s`,
  );
  if (count('failed') + count('impossible') > 0) process.exitCode = 1;
}

function listCommand(): void {
  for (const part of catalog) {
    const why = impossible(part);
    const state = isPresent(part) ? 'present' : why ? 'impossible' : 'missing';
    const detail =
      state === 'present'
        ? `${secondsOf(part) ?? 0} s  ${part.source.from === 'apt' ? '' : pathOf(part)}`
        : (why ?? `${part.optional ? 'optional; ' : ''}log: ${logOf(part)}`);
    console.log(
      `${state.padEnd(10)} ${part.name.padEnd(24)} ${part.version.padEnd(14)} ${part.source.from.padEnd(7)} ${detail}`,
    );
  }
}

async function startCommand(names: string[]): Promise<void> {
  const services: Lease[] = [];
  for (const name of names) {
    const service = await acquire(name, say);
    services.push(service);
    for (const [key, value] of Object.entries(service.env)) console.log(`${key}=${value}`);
  }
  console.log('ready; ends with ctrl-c or when this process ends');
  const end = async (): Promise<void> => {
    for (const service of services.reverse()) await service.release();
    process.exit(0);
  };
  process.once('SIGINT', () => void end());
  process.once('SIGTERM', () => void end());
  setInterval(() => {}, 60_000);
}

async function shellCommand(command: string[]): Promise<void> {
  const docker = await acquire('docker', say);
  const [program, ...args] = command.length > 0 ? command : [process.env.SHELL ?? 'bash'];
  const child = spawn(program as string, args, { stdio: 'inherit', env: { ...bedEnvironment(), ...docker.env } });
  process.on('SIGINT', () => {}); // ctrl-c is for what runs in the shell
  const code = await new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? 1)));
  await docker.release();
  process.exit(code);
}

const program = new Command('rookery-bed')
  .description('real Kubernetes software on this machine, built once, cached by content')
  .enablePositionalOptions();
program.command('list').description('every part: present, missing or impossible here, and why').action(listCommand);
program
  .command('build [parts...]')
  .description('build parts and what they need (all of them by default)')
  .option('--deadline <epoch seconds>', 'stop building then')
  .action(buildCommand);
program
  .command('start <services...>')
  .description(`start services and keep them while this runs: ${serviceNames.join(', ')}`)
  .action(startCommand);
program
  .command('shell [command...]')
  .description('a shell (or one command) with all tools on PATH and Docker running')
  .passThroughOptions()
  .allowUnknownOption()
  .action(shellCommand);
program
  .command('stop')
  .description('stop every service nobody holds, and remove all it left')
  .option('--force', 'also those somebody holds')
  .action(async (options: { force?: boolean }) => stopAll(options.force === true, say));
program
  .command('prune')
  .description('remove cached parts that this source tree no longer names')
  .action(() => {
    for (const folder of unused(catalog)) {
      console.log(`removing ${folder}`);
      rmSync(folder, { recursive: true, force: true });
    }
  });
await program.parseAsync();

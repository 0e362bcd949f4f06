/** The real kubectl, run as a user would: its own home and working folder, one command after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** Both, as a terminal would show them, without the last line break. */
  all: string;
}

export interface Kubectl {
  (command: string, stdin?: string): Promise<Ran>;
  /** A command that goes on by itself; the caller ends it. */
  start(command: string): ChildProcess;
  folder: string;
}

export const KUBECTL = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'rookery', 'bin', 'kubectl');

export function kubectl(kubeconfig: string, folder: string): Kubectl {
  if (!existsSync(KUBECTL)) throw new Error(`no kubectl at ${KUBECTL}: run \`make tools\``);
  mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: folder, KUBECONFIG: kubeconfig, TZ: 'UTC' };
  const start = (command: string) => spawn(KUBECTL, words(command), { cwd: folder, env });
  const run = (command: string, stdin?: string) =>
    new Promise<Ran>((resolve, reject) => {
      const child = start(command);
      const ran: Ran = { code: -1, out: '', err: '', all: '' };
      const keep = (part: 'out' | 'err') => (text: string) => {
        ran[part] += text;
        ran.all += text;
      };
      child.stdout?.setEncoding('utf8').on('data', keep('out'));
      child.stderr?.setEncoding('utf8').on('data', keep('err'));
      child.on('error', reject);
      child.on('close', (code) => resolve({ ...ran, code: code ?? -1, all: ran.all.trimEnd() }));
      child.stdin?.on('error', () => {});
      child.stdin?.end(stdin ?? '');
    });
  return Object.assign(run, { start, folder });
}

/** Splits at spaces; single quotes keep what is between them together. */
function words(command: string): string[] {
  return [...command.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));
}

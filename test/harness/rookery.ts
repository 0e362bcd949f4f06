/** The `rookery` command as people run it: a process of its own, on a home folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/rookery', import.meta.url));

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** What it has said so far. */
  said(): string;
  ended: Promise<Ran>;
}

export class Rookery {
  readonly home: string;
  readonly env: Record<string, string | undefined>;

  /** Port 0: tests beside each other do not meet. `home`: a folder of the caller's, default one of its own. */
  constructor(env: Record<string, string | undefined> = {}, home = mkdtempSync(join(tmpdir(), 'rookery-home-'))) {
    this.home = home;
    this.env = { ...process.env, ROOKERY_PORT: '0', NO_COLOR: '1', ...env };
  }

  start(...args: string[]): Running {
    const child = spawn(process.execPath, [program, '--home', this.home, ...args], { env: this.env });
    const ran: Ran = { code: null, stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        ran[name] += text;
      });
    }
    const ended = new Promise<Ran>((resolve) => {
      child.on('close', (code) => resolve({ ...ran, code }));
    });
    return { child, said: () => ran.stdout + ran.stderr, ended };
  }

  run(...args: string[]): Promise<Ran> {
    return this.start(...args).ended;
  }

  async json<T>(...args: string[]): Promise<T> {
    const { stdout, stderr } = await this.run(...args, '-o', 'json');
    try {
      return JSON.parse(stdout) as T;
    } catch {
      throw new Error(`no JSON from ${args.join(' ')}: ${stdout}${stderr}`);
    }
  }

  async close(): Promise<void> {
    await this.run('down');
    rmSync(this.home, { recursive: true, force: true });
  }
}

export async function until(what: string, holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 25))) {
    if (holds()) return;
  }
  throw new Error(`waited in vain for ${what}`);
}

/** docs/quick-start.md does what it says: every command of its console blocks is run, what it prints is compared. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KUBECTL } from '../harness/kubectl.ts';
import { startServer, type TestServer } from '../harness/server.ts';

interface Step {
  command: string;
  prints: string[];
}

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'quick-start.md'), 'utf8');

/** `$ ` starts a command, `> ` continues it, the rest is what it prints. */
function stepsOf(block: string): Step[] {
  const steps: Step[] = [];
  for (const line of block.trimEnd().split('\n')) {
    const step = steps.at(-1);
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), prints: [] });
    else if (line.startsWith('> ') && step) step.command += `\n${line.slice(2)}`;
    else step?.prints.push(line);
  }
  return steps;
}

/** Ages, addresses and ports differ from run to run, and columns with them. */
function same(line: string): string {
  return line
    .replace(/\b\d+(s|m\d+s|m)(?=\s|$)/g, 'AGE')
    .replace(/127\.0\.0\.1:\d+/g, 'SERVER')
    .replace(/\b10\.96\.\d+\.\d+/g, 'ADDRESS')
    .replace(/ {2,}/g, '  ')
    .trimEnd();
}

let server: TestServer;
let folder: string;
let kubeconfig: string;

beforeAll(async () => {
  server = await startServer();
  kubeconfig = await server.kubeconfig('demo');
  folder = mkdtempSync(join(tmpdir(), 'rookery-quick-start-'));
});
afterAll(async () => {
  expect(server.errors).toEqual([]);
  await server.close();
  rmSync(folder, { recursive: true });
});

function run(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: `${join(KUBECTL, '..')}:${process.env.PATH}`, HOME: folder, KUBECONFIG: kubeconfig };
    // Both streams into one, as a terminal shows them.
    const child = spawn('bash', ['-c', `exec 2>&1\n${command}`], { cwd: folder, env });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.on('error', reject).on('close', () => resolve(out));
  });
}

function compare({ command, prints }: Step, out: string): void {
  const got = out.trimEnd().split('\n').map(same);
  const wanted = prints.map(same);
  const open = wanted.at(-1) === '…';
  if (open) wanted.pop();
  expect(open ? got.slice(0, wanted.length) : got, command).toEqual(wanted.length > 0 ? wanted : ['']);
}

describe('the page', () => {
  for (const section of PAGE.split(/^## /m).slice(1)) {
    const steps = [...section.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block]) => stepsOf(block as string));
    if (steps.length === 0) continue;
    it(section.slice(0, section.indexOf('\n')), async () => {
      for (const step of steps) compare(step, await run(step.command));
    });
  }
});

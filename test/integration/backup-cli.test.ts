// Backups as people make them: the built program, killed in the middle, on disks that are full, on a schedule.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node-pty';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { kubectl } from '../harness/kubectl.ts';
import { Rookery, until } from '../harness/rookery.ts';

let rookery: Rookery;
let folder: string;
let key: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-backups-'));
  key = join(folder, 'key');
  writeFileSync(key, 'a key that is long enough for a backup\n');
  rookery = new Rookery({ ROOKERY_BACKUP_KEY_FILE: key, ROOKERY_BACKUP_FOLDER: join(folder, 'backups') });
});
afterEach(async () => {
  await rookery.close();
  rmSync(folder, { recursive: true, force: true });
});

const demo = () => kubectl(join(rookery.home, 'clusters', 'demo.kubeconfig'), join(folder, 'kubectl'));
const backups = () => (existsSync(join(folder, 'backups')) ? readdirSync(join(folder, 'backups')) : []);

async function up(...args: string[]): Promise<void> {
  const { code, stderr } = await rookery.run('up', '--detach', ...args);
  expect(`${code} ${stderr}`).toMatch(/^0 /);
}

/** Many stores, so that there is something to be killed in. */
async function furnish(count: number): Promise<void> {
  await up();
  for (let i = 0; i < count; i++) await rookery.run('cluster', 'create', `c${i}`, '--no-wait');
  const text = join(folder, 'text');
  writeFileSync(text, Buffer.alloc(700_000, 'some text, '));
  for (let i = 0; i < 4; i++) expect((await demo()(`create configmap big${i} --from-file=${text}`)).code).toBe(0);
}

/** Kills it with -9 after so many milliseconds, unless it was sooner. */
async function killed(ms: number, ...args: string[]): Promise<void> {
  const { child, ended } = rookery.start(...args);
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  await ended;
  clearTimeout(timer);
}

it('makes, lists, checks and restores one while kubectl works, and kubectl finds everything again', async () => {
  await furnish(1);
  const made = await rookery.json<{ file: string; clusters: string[]; isComplete: boolean }>('backup', 'create');
  expect(made).toMatchObject({ isComplete: true, clusters: ['c0', 'demo'] });
  expect(await rookery.json('backup', 'list')).toMatchObject([{ file: made.file, isComplete: true }]);
  expect(await rookery.run('backup', 'verify', made.file)).toMatchObject({ code: 0 });
  expect(existsSync(join(rookery.home, 'staging')) ? readdirSync(join(rookery.home, 'staging')) : []).toEqual([]);

  expect(await rookery.run('backup', 'restore', made.file)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('rookery down'),
  });
  expect(await rookery.run('backup', 'restore', made.file, '--cluster', 'demo')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--replace'),
  });
  await demo()('delete configmap big0');
  expect(await rookery.run('backup', 'restore', made.file, '--cluster', 'demo', '--replace')).toMatchObject({
    code: 0,
  });
  expect((await demo()('get configmap big0 -o name')).out).toContain('big0');

  rmSync(join(rookery.home, 'data', 'clusters', 'demo.db'));
  await expect
    .poll(async () => (await rookery.run('why', 'demo')).stdout, { timeout: 60_000 })
    .toContain('StoreMissing');
  expect((await demo()('get configmap big0')).err).toContain('the store of cluster demo is missing');
  expect(await rookery.run('backup', 'restore', made.file, '--cluster', 'demo')).toMatchObject({ code: 0 });
  expect((await demo()('get configmap big0 -o name')).out).toContain('big0');
});

it('leaves no half backup when it is killed, and the next one is whole', async () => {
  await furnish(4);
  for (const ms of [300, 900, 1300, 1700, 2100]) {
    await killed(ms, 'backup', 'create');
    const whole = backups().filter((name) => name.endsWith('.backup'));
    for (const name of whole)
      expect(await rookery.run('backup', 'verify', join(folder, 'backups', name))).toMatchObject({ code: 0 });
  }
  expect(await rookery.run('backup', 'create', '--keep', '1')).toMatchObject({ code: 0 });
  expect(backups()).toHaveLength(1);
});

it('is restored whole after a restore that was killed, at whatever moment', async () => {
  await furnish(4);
  const { file } = await rookery.json<{ file: string }>('backup', 'create');
  await rookery.run('down');
  for (const ms of [400, 800, 1100, 1400, 1800]) {
    rmSync(join(rookery.home, 'data', 'root.db'), { force: true });
    await killed(ms, 'backup', 'restore', file, '--replace');
    const started = await rookery.run('up', '--detach');
    // Before the exchange: refused, with words. From its first step on: finished by the start.
    if (started.code !== 0) expect(started.stderr).toMatch(/rookery backup restore/);
    await rookery.run('down');
  }
  expect(await rookery.run('backup', 'restore', file, '--replace')).toMatchObject({ code: 0 });
  await up();
  await rookery.run('cluster', 'kubeconfig', 'demo', '--path');
  expect((await demo()('get configmap big3 -o name')).out).toContain('big3');
});

it.runIf(process.getuid?.() === 0)('leaves nothing on a disk that is full in the middle, and says so', async () => {
  await furnish(1);
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
  try {
    const { code, stderr } = await rookery.run('backup', 'create', '--folder', disk);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/ENOSPC|full/);
    expect(stderr).not.toContain('bug');
    expect(readdirSync(disk)).toEqual([]);
  } finally {
    execFileSync('umount', [disk]);
  }
});

it('makes them on a schedule, keeps as many as are wanted, and says so', async () => {
  expect(await rookery.run('up', '--detach', '--backup-every', '1x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('not an interval'),
  });
  await up(
    '--backup-every',
    '1h',
    '--backup-keep',
    '2',
    '--backup-folder',
    join(folder, 'backups'),
    '--backup-key-file',
    key,
  );
  await until('the first backup', () => backups().some((name) => name.endsWith('.backup')));
  expect(await rookery.run('status')).toMatchObject({
    stdout: expect.stringMatching(/backups +every 60 min, last \d+s ago/),
  });
  expect((await rookery.run('doctor')).stdout).toMatch(/backups +every 60 min/);
  // A restart makes no other one before it is due.
  await rookery.run('down');
  await up('--backup-every', '1h', '--backup-folder', join(folder, 'backups'), '--backup-key-file', key);
  expect(backups().filter((name) => name.endsWith('.backup'))).toHaveLength(1);
  expect(readFileSync(join(rookery.home, 'rookery.log'), 'utf8')).not.toContain('scheduled backup failed');
});

it('refuses a schedule without a key at the start', async () => {
  rookery.env.ROOKERY_BACKUP_KEY_FILE = undefined;
  expect(await rookery.run('up', '--backup-every', '1h')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('need a key'),
  });
});

it('starts with a new CA only when a person accepts one', async () => {
  await up();
  await rookery.run('down');
  rmSync(join(rookery.home, 'pki', 'ca.pem'));
  rmSync(join(rookery.home, 'links.key'));
  expect(await rookery.run('up')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('rookery vault replace-lost ca'),
  });
  expect(await rookery.run('vault', 'replace-lost', 'ca')).toMatchObject({ code: 0 });
  expect(await rookery.run('up')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('rookery vault replace-lost links'),
  });
  expect(await rookery.run('vault', 'replace-lost', 'links')).toMatchObject({ code: 0 });
  expect(await rookery.run('vault', 'replace-lost', 'links')).toMatchObject({ code: 2 });
  await up();
});

it('says what is wrong with files that people name, and with settings that come too late', async () => {
  const missing = join(folder, 'missing');
  const user = (text: string) => ({ code: 2, stderr: expect.stringContaining(text) });
  expect(await rookery.run('backup', 'create', '--key-file', missing)).toMatchObject(user(missing));
  expect(await rookery.run('backup', 'verify', missing)).toMatchObject(user(`there is no file ${missing}`));
  expect(await rookery.run('backup', 'verify', folder)).toMatchObject(user(`there is no file ${folder}`));
  writeFileSync(join(folder, 'short'), 'short');
  const short = await rookery.run('backup', 'create', '--key-file', join(folder, 'short'));
  expect(short).toMatchObject(user('too few for a key'));
  expect(short.stderr).not.toContain('> ');
  await up();
  expect(await rookery.run('up', '--detach', '--backup-every', '6h')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('without --backup-every: stop it with `rookery down` first'),
  });
});

it.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('ends when %s is pressed instead of a passphrase', async (_, keys) => {
  const program = join(import.meta.dirname, '..', '..', 'bin', 'rookery');
  const env = { ...rookery.env } as Record<string, string>;
  delete env.ROOKERY_BACKUP_KEY_FILE;
  const args = [program, '--home', rookery.home, 'backup', 'create'];
  const terminal = spawn(process.execPath, args, { env });
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  let said = '';
  terminal.onData((text) => {
    said += text;
  });
  await until('the question', () => said.includes('Passphrase of the backup: '));
  // Readline takes the terminal a moment after the question is shown.
  await new Promise((resolve) => setTimeout(resolve, 300));
  terminal.write(keys);
  expect(await ended).toBe(130);
});

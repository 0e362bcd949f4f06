// A control plane whose disk fills up: the built program on a small file system of its own, its log on the same one.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';
import { Rookery, until } from '../harness/rookery.ts';

const isRoot = process.getuid?.() === 0;

let disk: string;
let tools: string;
let rookery: Rookery;
let demo: Kubectl;

beforeEach(async () => {
  if (!isRoot) return;
  disk = mkdtempSync(join(tmpdir(), 'rookery-disk-'));
  tools = mkdtempSync(join(tmpdir(), 'rookery-kubectl-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]);
  rookery = new Rookery({ ROOKERY_HOME: disk, ROOKERY_LOG_LEVEL: 'info' }, disk);
  const started = await rookery.run('up', '--detach');
  expect(started.code, started.stderr).toBe(0);
  demo = kubectl(join(disk, 'clusters', 'demo.kubeconfig'), tools);
});

afterEach(async () => {
  if (!isRoot) return;
  await rookery.run('down');
  execFileSync('umount', ['-l', disk]);
  for (const folder of [disk, tools]) rmSync(folder, { recursive: true, force: true });
});

const filler = () => join(disk, 'filler');

/** Takes every byte there is, as another program on the same disk would. */
function fill(): void {
  const file = openSync(filler(), 'a');
  for (const size of [2 ** 20, 4096, 1]) {
    for (let left = 2000; left > 0; left--) {
      try {
        writeSync(file, Buffer.alloc(size, 1));
      } catch {
        break;
      }
    }
  }
  closeSync(file);
}

const free = () => statfsSync(disk).bavail * statfsSync(disk).bsize;
const pid = () => (JSON.parse(readFileSync(join(disk, 'state.json'), 'utf8')) as { pid: number }).pid;

function isRunning(process_: number): boolean {
  try {
    process.kill(process_, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${process_}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

it.runIf(isRoot)(
  'goes on reading, says why it does not write, lets deletes through, and recovers by itself',
  async () => {
    for (const name of ['a', 'b', 'c'])
      expect((await demo(`create configmap ${name} --from-literal=k=v`)).code).toBe(0);
    await until('the reserve', () => existsSync(join(disk, 'reserve')) && free() < 96 * 2 ** 20 - 16 * 2 ** 20);
    fill();
    expect(free()).toBe(0);

    // The first write that fails is answered; clients try again by themselves, and are told what is wrong.
    const refused = await demo('create configmap d --from-literal=k=v');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('the disk of the server is full');
    expect(refused.err).not.toContain(disk);
    for (let i = 0; i < 5; i++) {
      expect((await demo(`create configmap d${i} --from-literal=k=v`)).err).toContain('the disk of the server is full');
    }
    // Other programs take what the reserve has given up, too: the log has no room, and some of it is used for deletes.
    fill();
    const changed = await demo('annotate configmap a one=two');
    expect(changed.err).toContain('Error from server (InsufficientStorage): the disk of the server is full');

    // Reads, of an object and of lists; a delete; what is deleted stays deleted.
    expect((await demo('get configmap a -o name')).out).toBe('configmap/a\n');
    expect((await demo('delete configmap b')).all).toContain('configmap "b" deleted');
    expect((await demo('get configmaps -o name')).out).not.toContain('configmap/b\n');
    const status = await rookery.json<{ disk: { state: string } }>('status');
    expect(status.disk.state).toBe('full');
    expect((await rookery.run('status')).stdout).toContain('full');
    const doctor = await rookery.json<{ checks: { name: string; state: string; detail: string }[] }>('doctor');
    expect(doctor.checks.find(({ name }) => name === 'disk')).toMatchObject({ state: 'missing' });
    expect((await rookery.run('why', 'demo')).stdout).toContain('The disk is full');
    const root = kubectl(join(disk, 'kubeconfig'), tools);
    expect((await root('get --raw /metrics')).out).toMatch(/^rookery_disk_full 1$/m);

    rmSync(filler());
    let written = await demo('create configmap e --from-literal=k=v');
    for (let tries = 30; written.code !== 0 && tries > 0; tries--) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      written = await demo('create configmap e --from-literal=k=v');
    }
    expect(written.all).toBe('configmap/e created');
    expect((await rookery.json<{ disk: { state: string } }>('status')).disk.state).not.toBe('full');
    expect((await root('get --raw /metrics')).out).toMatch(/^rookery_disk_full 0$/m);
    expect(readFileSync(join(disk, 'rookery.log'), 'utf8')).toContain('the disk can be written again');
  },
);

it.runIf(isRoot)('ends at the first SIGTERM, and starts again on a disk that is still full', async () => {
  await demo('create configmap a');
  await until('the reserve', () => existsSync(join(disk, 'reserve')) && free() < 80 * 2 ** 20);
  fill();
  await demo('create configmap b');
  const server = pid();
  process.kill(server, 'SIGTERM');
  await until('the server to end', () => !isRunning(server));

  fill();
  const again = await rookery.run('up', '--detach');
  expect(again.code, again.stderr).toBe(0);
  expect((await demo('get configmaps -o name')).out).toContain('configmap/a\n');
  expect((await demo('delete configmap a')).code).toBe(0);
});

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemProcesses } from '../../../src/tools/processes.ts';
import { ProcessWorkload } from '../../../src/workloads/process/process-workload.ts';
import { sandboxed } from '../../../src/workloads/process/sandbox.ts';
import { workloadConformance } from './workload.ts';

workloadConformance('shells on this machine', async () => {
  const home = mkdtempSync(join(tmpdir(), 'workspaces-'));
  const folder = join(home, 'workspaces');
  return {
    open: () => new ProcessWorkload({ processes: systemProcesses(), folder, hidden: [home] }),
    step: (id) => ({ id }),
    leftovers: async () => {
      try {
        return readdirSync(folder);
      } catch {
        return [];
      }
    },
    close: async () => rmSync(home, { recursive: true, force: true }),
    limits: process.getuid?.() === 0,
  };
});

const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)('shells on this machine, against students who try', () => {
  const world = async (work: (home: string, workload: ProcessWorkload) => Promise<void>) => {
    const home = mkdtempSync(join(tmpdir(), 'workspaces-'));
    const folder = join(home, 'workspaces');
    const workload = new ProcessWorkload({ processes: systemProcesses(), folder, hidden: [home] });
    try {
      await work(home, workload);
    } finally {
      await workload.remove(ref);
      rmSync(home, { recursive: true, force: true });
    }
  };
  const ref = { id: `attack-${process.pid}`, name: 'mallory' };
  const request = { ...ref, step: { id: 'one' }, kubeconfig: '# first\n' };
  const running = (text: string) =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .some((line) => line === text);

  it('a PATH into the home does not choose the programs that root runs', async () => {
    await world(async (_home, workload) => {
      const trap = '#!/bin/sh\nid -u > /home/student/caught\n';
      const files = ['mount', 'umount', 'setpriv', 'env'].map((name) => ({
        path: `bin/${name}`,
        content: trap,
        mode: '0755',
      }));
      const step = { id: 'one', files, env: { PATH: '/home/student/bin:/usr/bin:/bin' } };
      await workload.ensure({ ...request, step });
      const { stdout } = await workload.run(ref, 'cat ~/caught 2>/dev/null; /usr/bin/id -u', { timeoutMs: 20_000 });
      expect(stdout.trim()).toMatch(/^[1-9]\d+$/);
    });
  });

  it('links in the home lead root nowhere', async () => {
    await world(async (home, workload) => {
      await workload.ensure(request);
      const outside = join(home, 'outside');
      mkdirSync(outside, { mode: 0o755 });
      const inside = join(home, 'workspaces', ref.id, 'home');
      rmSync(join(inside, '.kube'), { recursive: true });
      symlinkSync(outside, join(inside, '.kube'));
      await workload.ensure({ ...request, kubeconfig: '# second\n' }).catch(() => {});
      expect(readdirSync(outside)).toEqual([]);
    });
  });

  it('what ignores that its terminal went away ends with it', async () => {
    await world(async (_home, workload) => {
      await workload.ensure(request);
      const shell = await workload.terminal(ref, { columns: 80, rows: 24 });
      const sleep = `sleep 1${process.pid}`;
      shell.write(`trap '' HUP TERM; exec ${sleep}\r`);
      await expect.poll(() => running(sleep), { timeout: 20_000 }).toBe(true);
      shell.close();
      await expect.poll(() => running(sleep), { timeout: 20_000 }).toBe(false);
    });
  });

  it('works wherever Rookery is, and hides it there', async () => {
    for (const place of ['/mnt', '/media']) {
      mkdirSync(place, { recursive: true });
      const home = mkdtempSync(join(place, 'workspaces-'));
      const workload = new ProcessWorkload({ processes: systemProcesses(), folder: join(home, 'all'), hidden: [home] });
      try {
        await workload.ensure(request);
        const seen = await workload.run(ref, `cat ~/.kube/config; ls ${home}`, { timeoutMs: 60_000 });
        expect(seen.stdout, seen.stderr).toBe('# first\n');
        expect(seen.stderr).toContain('Permission denied');
      } finally {
        await workload.remove(ref);
        rmSync(home, { recursive: true, force: true });
      }
    }
  });

  it('is refused with a reason where there is no room for it', () => {
    const hidden = ['/mnt', '/media', '/srv', '/opt'];
    const parts = { isolation: 'root', home: '/home/x', hidden, user: 1, env: {}, command: ['true'] } as const;
    expect(() => sandboxed(parts)).toThrow(
      'a shell needs one of /mnt, /media, /srv, /opt with nothing of Rookery in it',
    );
  });

  it('tells what shells and commands did', async () => {
    await world(async (_home, workload) => {
      await workload.ensure(request);
      await workload.run(ref, 'echo why >&2; exit 3', { timeoutMs: 60_000 });
      const shell = await workload.terminal(ref, { columns: 80, rows: 24 });
      shell.onData(() => {});
      shell.write('exit 4\r');
      const told = async () => (await workload.logs(ref)).map((line) => line.slice(line.indexOf(' ') + 1)).join('\n');
      await expect.poll(told, { timeout: 60_000 }).toMatch(/shell \d+ ended with 4/);
      expect(await told()).toMatch(
        /^step one: the home folder put in place\necho why >&2; exit 3 ended with 3: why\nshell \d+ started\n/,
      );
    });
  });

  it('without root, what is covered stays covered', ({ skip }) => {
    const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    const run = (args: string[]) =>
      execFileSync('setpriv', [...asNobody, ...args], { encoding: 'utf8', stdio: 'pipe' });
    try {
      run(['unshare', '--user', '--map-root-user', 'true']);
    } catch {
      skip('no user namespaces for users here');
    }
    const home = mkdtempSync('/var/tmp/workspaces-');
    try {
      chmodSync(home, 0o777);
      mkdirSync(join(home, 'covered'));
      mkdirSync(join(home, 'student'));
      writeFileSync(join(home, 'covered', 'secret'), 'treasure');
      const covered = join(home, 'covered');
      const { program, args } = sandboxed({
        isolation: 'user',
        home: join(home, 'student'),
        hidden: [covered],
        env: { PATH: '/usr/bin:/bin' },
        command: ['/bin/sh', '-c', `umount /var/tmp; umount ${covered}; cat ${covered}/secret; echo end`],
      });
      expect(run([program, ...args]).trim()).toBe('end');
      expect(existsSync(join(covered, 'secret'))).toBe(true);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

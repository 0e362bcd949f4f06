/** The built program as an ordinary user runs it: a virtual cluster, kubectl, and workspaces whose shells are kept apart. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';

const USER = 61_184;
const root = fileURLToPath(new URL('../../', import.meta.url));
const LONG = 180_000;

/** Needs root once, to become the ordinary user; and that user has to be able to read the program. */
const canBecome =
  process.getuid?.() === 0 &&
  (() => {
    try {
      become('test', '-r', join(root, 'bin/rookery'));
      become('unshare', '--user', '--map-root-user', '--net', 'true');
      return true;
    } catch {
      return false;
    }
  })();

function become(program: string, ...args: string[]): string {
  const user = [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
  return execFileSync('setpriv', [...user, program, ...args], { encoding: 'utf8', stdio: 'pipe', cwd: '/' });
}

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

describe.runIf(canBecome)('an ordinary user', () => {
  const home = mkdtempSync(join(tmpdir(), 'rookery-ordinary-'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ROOKERY_HOME: join(home, '.rookery'),
    ROOKERY_PORT: '0',
    ROOKERY_WEB_PORT: '0',
    NO_COLOR: '1',
  };
  const run = (program: string, ...args: string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const user = [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--', program, ...args];
      const child = spawn('setpriv', user, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
      const ran: Ran = { code: null, stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          ran[name] += text;
        });
      }
      child.on('close', (code) => resolve({ ...ran, code }));
    });
  const rookery = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(process.execPath, join(root, 'bin/rookery'), ...args);
    expect(code, `${args.join(' ')}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  const object = async (...args: string[]) => JSON.parse(await rookery(...args, '-o', 'json')) as KubeObject;

  beforeAll(async () => {
    // That user cannot write into the repository.
    execFileSync(process.execPath, [join(root, 'tools/build.mjs')]);
    chownSync(home, USER, USER);
    await rookery('up', '--detach', '--no-demo');
  }, LONG);
  afterAll(async () => {
    await rookery('down');
    rmSync(home, { recursive: true, force: true });
  }, LONG);

  it('makes a virtual cluster and uses it with kubectl', { timeout: LONG }, async () => {
    await rookery('cluster', 'create', 'mine', '--provisioner', 'virtual');
    const { stdout } = await run(
      'sh',
      '-c',
      `KUBECONFIG=$(mktemp); export KUBECONFIG; ${process.execPath} ${root}bin/rookery cluster kubeconfig mine > $KUBECONFIG && kubectl create configmap it --from-literal=a=b && kubectl get configmap it -o 'jsonpath={.data.a}'`,
    );
    expect(stdout).toBe('configmap/it created\nb');
  });

  it('is told by doctor what only root can do', { timeout: LONG }, async () => {
    const { checks } = JSON.parse(await rookery('doctor', '-o', 'json')) as {
      checks: { name: string; detail: string }[];
    };
    const detail = (name: string) => checks.find((check) => check.name === name)?.detail;
    expect(detail('user')).toContain('an ordinary user, as recommended; only root has: limits of CPU');
    expect(detail('workspace shells')).toBe('user namespaces, a network of their own, a filter of system calls');
  });

  it('has workspaces whose shells reach their own cluster and not the rest of the machine', {
    timeout: LONG,
  }, async () => {
    const service = createServer((socket) => socket.end('secret'));
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as { port: number };
    try {
      writeFileSync(join(home, 'template.json'), JSON.stringify(templateThatChecks(port)));
      await rookery('template', 'apply', '-f', 'template.json');
      await rookery('workspace', 'create', 'ada', '-t', 'apart');
      const { checks } = await object('workspace', 'check', 'ada');
      expect(checks).toEqual(['cluster', 'filter', 'machine', 'network'].map((name) => ({ name, passed: true })));
    } finally {
      service.close();
    }
  });

  it('is told that the limits of a workspace do not hold', { timeout: LONG }, async () => {
    const { status } = await object('workspace', 'get', 'ada');
    const conditions: { type: string; message: string }[] = status?.conditions ?? [];
    const ready = conditions.find(({ type }) => type === 'WorkloadReady');
    expect(ready?.message).toBe(
      ['cpu', 'memory']
        .map((name) => `resources.${name} is not enforced here: Rookery does not run as root`)
        .join('\n'),
    );
  });

  it('is killed: what runs in workspaces ends with it, and comes back with it', { timeout: LONG }, async () => {
    await rookery('workspace', 'step', 'ada', 'slow');
    const slow = run(process.execPath, join(root, 'bin/rookery'), 'workspace', 'check', 'ada');
    const sleeps = () => processes().filter((line) => line === 'sleep 6100').length;
    await expect.poll(sleeps, { timeout: 60_000 }).toBe(1);
    const { pid } = JSON.parse(readFileSync(join(home, '.rookery/state.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await slow;
    await expect.poll(processes, { timeout: 30_000 }).toEqual([]);
    await rookery('up', '--detach', '--no-demo');
    await rookery('workspace', 'step', 'ada', 'one');
    const { checks } = await object('workspace', 'check', 'ada');
    expect((checks as { passed: boolean }[]).map(({ passed }) => passed)).toEqual([true, true, true, true]);
  });

  it('leaves no process behind', { timeout: LONG }, async () => {
    await rookery('workspace', 'delete', 'ada');
    await expect.poll(processes, { timeout: 30_000 }).toEqual([expect.stringContaining('up')]);
  });
});

/** Command lines of the user. */
function processes(): string[] {
  const { stdout } = spawnSync('ps', ['-o', 'args=', '-u', String(USER)], { encoding: 'utf8' });
  return stdout.split('\n').filter(Boolean);
}

function templateThatChecks(port: number): KubeObject {
  const checks = [
    {
      name: 'cluster',
      run: 'kubectl create configmap made --dry-run=client -o yaml | kubectl apply -f -',
      timeoutSeconds: 60,
    },
    {
      name: 'filter',
      run: `perl -e 'print syscall(${process.arch === 'arm64' ? 219 : 250}, 0), " $!"'`,
      stdout: ['-1 Operation not permitted'],
    },
    {
      name: 'machine',
      run: `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new("127.0.0.1:${port}") // $@'`,
      stdout: ['Connection refused'],
    },
    { name: 'network', run: 'grep -c : /proc/net/dev', stdout: ['/^1$/'] },
  ];
  const slow = { name: 'slow', run: 'sleep 6100', timeoutSeconds: 120 };
  return {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceTemplate',
    metadata: { name: 'apart' },
    spec: {
      defaults: {
        cluster: { mode: 'per-workspace', provisioner: 'virtual' },
        resources: { cpu: '500m', memory: '256Mi' },
      },
      steps: [
        { id: 'one', title: 'One', imageTag: 'none:one', checks },
        { id: 'slow', title: 'Slow', imageTag: 'none:slow', checks: [slow] },
      ],
    },
  };
}

// Shells of several workspaces on this machine, as root and without: each has a network of its own, and system calls that it has no use for are refused.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Privileged, privilegesOf } from '../../../src/privileged/privileged.ts';
import { systemProcesses } from '../../../src/tools/processes.ts';
import { ProcessWorkload } from '../../../src/workloads/process/process-workload.ts';
import type { WorkloadRequest } from '../../../src/workloads/workload.ts';

const processes = systemProcesses();
const ORDINARY_USER = 1000;
const ways: [string, Privileged][] = [['without root', privilegesOf(processes, ORDINARY_USER)]];
if (process.getuid?.() === 0) ways.push(['as root', privilegesOf(processes)]);

const lanAddress = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
const LONG = { timeout: 120_000 };
const TIME = { timeoutMs: 60_000 };
/** Says `text` to whoever connects to the port, until it is ended. */
const serve = (port: number, text: string) =>
  `perl -MIO::Socket::INET -e '$|=1; $s = IO::Socket::INET->new(Listen => 9, LocalAddr => "0.0.0.0:${port}") or die $!; print "is up\\n"; while ($c = $s->accept) { print $c "${text}\\n"; close $c }'`;
const read = (host: string, port: number) =>
  `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => "${host}", PeerPort => ${port}, Timeout => 10) or die "$@\\n"; print <$s>'`;
const kubeconfig = (server: string) =>
  JSON.stringify({ kind: 'Config', clusters: [{ name: 'it', cluster: { server } }] });

describe.each(ways)('workspaces on this machine, %s', (_name, privileged) => {
  let home: string;
  let made: Set<string>;
  let workload: ProcessWorkload;
  let outside: Server;
  let port: number;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'workspaces-'));
    made = new Set();
    outside = createServer((socket) => socket.end('from outside\n'));
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    port = (outside.address() as { port: number }).port;
    const apiServer = `https://127.0.0.1:${port}`;
    workload = new ProcessWorkload({ processes, privileged, apiServer, folder: join(home, 'all'), hidden: [home] });
  });
  afterEach(async () => {
    for (const id of made) await workload.remove({ id, name: id });
    outside.close();
    rmSync(home, { recursive: true, force: true });
  }, 60_000);

  const ready = async (name: string, more: Partial<WorkloadRequest> = {}) => {
    const request = { id: `network-${name}-${process.pid}`, name, step: { id: 'one' }, ...more };
    made.add(request.id);
    const { phase, message } = await workload.ensure(request);
    expect(phase).toBe('ready');
    expect(message).not.toMatch(/network of this machine|not filtered/);
    return { ...request, message };
  };
  const shellThatServes = async (ref: WorkloadRequest, text: string) => {
    const shell = await workload.terminal(ref, { columns: 200, rows: 24 });
    let screen = '';
    shell.onData((data) => {
      screen += data;
    });
    shell.write(`${serve(8080, text)}\r`);
    await expect.poll(() => screen, { timeout: 60_000 }).toContain('is up\r\n');
    return shell;
  };

  it('two of them listen on the same port; each reads its own, also from its checks', LONG, async () => {
    const [ada, bob, eve] = [await ready('ada'), await ready('bob'), await ready('eve')];
    await shellThatServes(ada, 'of ada');
    await shellThatServes(bob, 'of bob');
    expect(await workload.run(ada, read('127.0.0.1', 8080), TIME)).toMatchObject({ stdout: 'of ada\n' });
    expect(await workload.run(bob, read('localhost', 8080), TIME)).toMatchObject({ stdout: 'of bob\n' });
    expect((await workload.run(eve, read('127.0.0.1', 8080), TIME)).stderr).toContain('Connection refused');
  });

  it('reaches the API server at its own address and nothing else of this machine', LONG, async () => {
    const other = createServer((socket) => socket.end('secret\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port: closed } = other.address() as { port: number };
    try {
      const ada = await ready('ada', { kubeconfig: kubeconfig(`https://127.0.0.1:${port}/clusters/ada`) });
      expect(ada.message).not.toContain('cannot reach');
      expect(await workload.run(ada, read('127.0.0.1', port), TIME)).toMatchObject({ stdout: 'from outside\n' });
      expect((await workload.run(ada, read('127.0.0.1', closed), TIME)).stderr).toContain('Connection refused');
      // A kubeconfig is data that others may have changed.
      const bob = await ready('bob', { kubeconfig: kubeconfig(`https://127.0.0.1:${closed}`) });
      expect(bob.message).toContain(`the shell cannot reach 127.0.0.1:${closed}`);
      expect((await workload.run(bob, read('127.0.0.1', closed), TIME)).stdout).toBe('');
      const allowed = await ready('bob', { egress: [{ host: '127.0.0.1', port: closed }] });
      expect(allowed.message).not.toContain('cannot reach');
      expect((await workload.run(bob, 'cat /proc/net/dev', TIME)).stdout.match(/^ *\w+:/gm)).toEqual([
        expect.stringMatching(/lo:/),
      ]);
    } finally {
      other.close();
    }
  });

  it('reaches its API server also where an earlier version made the workspace', LONG, async () => {
    const cluster = { kubeconfig: kubeconfig(`https://127.0.0.1:${port}`) };
    const { id } = await ready('ada', cluster);
    const file = join(home, 'all', id, 'workspace.json');
    const { servers, ...earlier } = JSON.parse(readFileSync(file, 'utf8'));
    expect(servers).toEqual([{ host: '127.0.0.1', port }]);
    writeFileSync(file, JSON.stringify(earlier));
    const ada = await ready('ada', cluster);
    expect(await workload.run(ada, read('127.0.0.1', port), TIME)).toMatchObject({ stdout: 'from outside\n' });
  });

  it('reaches what its template allows, and from then on, while shells run', LONG, async () => {
    const ada = await ready('ada');
    const shell = await shellThatServes(ada, 'of ada');
    const far = read('192.0.2.7', port);
    expect((await workload.run(ada, far, TIME)).stdout).toBe('');
    // No address of this machine, but one that it listens on inside: the way there is tried, and fails outside.
    await ready('ada', {
      egress: [
        { host: '127.0.0.1', port },
        { host: '192.0.2.7', port },
        { host: 'nowhere.invalid', port },
      ],
    });
    expect(await workload.run(ada, read('127.0.0.1', port), TIME)).toMatchObject({ stdout: 'from outside\n' });
    expect((await workload.run(ada, 'cat /etc/hosts', TIME)).stdout).toMatch(/^127\.64\.0\.1 nowhere\.invalid$/m);
    expect((await workload.run(ada, read('127.0.0.1', 8080), TIME)).stdout).toBe('of ada\n');
    await ready('ada');
    expect((await workload.run(ada, read('127.0.0.1', port), TIME)).stderr).toContain('Connection refused');
    shell.close();
  });

  it.runIf(lanAddress)('reaches an address of another network as if it were there', LONG, async () => {
    const host = lanAddress as string;
    const far = createServer((socket) => socket.end('from afar\n'));
    await new Promise<void>((resolve) => far.listen(0, host, resolve));
    try {
      const { port: there } = far.address() as { port: number };
      const ada = await ready('ada', {
        kubeconfig: kubeconfig('https://192.0.2.7:6443'),
        egress: [{ host, port: there }],
      });
      expect(ada.message).toBe('');
      expect(await workload.run(ada, read(host, there), TIME)).toMatchObject({ stdout: 'from afar\n' });
      expect((await workload.run(ada, read(host, there === 65_535 ? 1 : there + 1), TIME)).stderr).toContain('refused');
    } finally {
      far.close();
    }
  });

  it('leaves no network behind when it is suspended or removed', LONG, async () => {
    const ada = await ready('ada', { egress: [{ host: '127.0.0.1', port }] });
    const inode = (await workload.run(ada, 'readlink /proc/self/ns/net', TIME)).stdout.trim();
    expect(inode).toMatch(/^net:\[\d+\]$/);
    expect(inode).not.toBe(readlinkSync('/proc/self/ns/net'));
    expect(held()).toContain(inode);
    await workload.suspend(ada);
    expect(held()).not.toContain(inode);
    await ready('ada');
    expect((await workload.run(ada, read('127.0.0.1', port), TIME)).stdout).toBe('');
  });

  it('refuses system calls that leave the sandbox or administer the machine', LONG, async () => {
    const ada = await ready('ada');
    const call = (number: number, ...args: (number | string)[]) =>
      `perl -e 'print syscall(${[number, ...args].join(', ')}) < 0 ? "$!" : "done", "\\n"'`;
    const refused = async (...args: Parameters<typeof call>) =>
      (await workload.run(ada, call(...args), TIME)).stdout.trim();
    const [keyctl, bpf, userfaultfd, ioUring, perf, syslog, personality, clone3, x32] =
      process.arch === 'arm64'
        ? [219, 280, 282, 425, 241, 116, 92, 435, 278]
        : [250, 321, 323, 425, 298, 103, 135, 435, 0x40000027];
    for (const number of [keyctl, bpf, userfaultfd, ioUring, perf]) {
      expect(await refused(number as number, 0, 0, 0, 0, 0)).toBe('Operation not permitted');
    }
    expect(await refused(syslog as number, 3, 0, 0)).toBe('Operation not permitted');
    expect(await refused(personality as number, 0x0400000)).toBe('Operation not permitted');
    expect(await refused(personality as number, 0xffffffff)).toBe('done');
    expect(await refused(clone3 as number, 0, 0)).toBe('Function not implemented');
    if (process.arch === 'x64') expect(await refused(x32 as number)).toBe('Operation not permitted');
    const userNamespace = await workload.run(ada, 'unshare --user --map-root-user true', TIME);
    expect(userNamespace.stderr).toContain('Operation not permitted');
    const vsock = await workload.run(ada, `perl -e 'socket(S, 40, 1, 0) or print "$!"'`, TIME);
    expect(vsock.stdout).toBe('Address family not supported by protocol');
  });

  it('lets ordinary work go on', LONG, async () => {
    const ada = await ready('ada');
    const works = async (command: string) => expect(await workload.run(ada, command, TIME)).toMatchObject({ code: 0 });
    const has = (program: string) => (existsIn('/usr/bin', program) ? [program] : []);
    await works('git init -q work && cd work && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x');
    await works(`bash -c 'for i in 1 2 3; do (echo $i) & done; wait'`);
    for (const _python of has('python3')) {
      await works(
        `/usr/bin/python3 -c 'import subprocess, threading; threading.Thread(target=print).start(); subprocess.check_call(["true"])'`,
      );
    }
    for (const _node of has('node'))
      await works(
        `node -e 'new Worker; 0' 2>/dev/null || node -e 'new (require("worker_threads").Worker)("1", { eval: true })'`,
      );
    for (const _tmux of has('tmux')) await works('tmux -L t new-session -d "sleep 60" && tmux -L t kill-server');
    for (const _vim of has('vim')) await works('vim -es -u NONE -c "normal ihello" -c "wq" text && grep -q hello text');
    await works('kubectl version --client');
  });
});

/** Namespaces that this process holds. */
function held(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

function existsIn(folder: string, program: string): boolean {
  try {
    execFileSync('test', ['-x', join(folder, program)]);
    return true;
  } catch {
    return false;
  }
}

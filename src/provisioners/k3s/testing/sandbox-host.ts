// A machine that is a folder: the real programs of `host/` run with the real /bin/sh, on paths below it, with scripts in place of k3s and of every
// tool that could touch this machine. Many can be killed in it, and nothing is fast or slow in a way the real one is not.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../clock.ts';
import { RookeryError } from '../../../errors.ts';
import type { Host, ScriptOptions, UploadOptions } from '../../../machines/host.ts';
import { HostFolders } from '../../../machines/host-folders.ts';
import { LocalHost } from '../../../machines/local-host.ts';
import { systemProcesses } from '../../../tools/processes.ts';
import type { K3sSpec } from '../config.ts';
import { K3sProvisioner } from '../k3s-provisioner.ts';

/** Folders of a machine that the programs use; what else they name is this machine's own (/proc/<pid>, /bin/sh, /dev/null). */
const PLACES =
  /(?<![\w}])\/(?=(?:var\/lib|var\/log|etc\/|run\/|sys\/|usr\/libexec)|proc\/self\/mounts|proc\/\[0-9\]\*\/cgroup|proc\/net\/unix)/g;

/** Where the programs look at all processes of the machine. */
const PROCESSES = '/proc/[0-9]*/comm';

export class Sandbox {
  readonly root = mkdtempSync(join(tmpdir(), 'k3s-machine-'));
  readonly folder = mkdtempSync(join(tmpdir(), 'k3s-clusters-'));
  isDown = false;
  readonly #env: NodeJS.ProcessEnv;
  readonly #before: string[];

  constructor() {
    const bin = join(this.root, 'bin');
    mkdirSync(bin);
    const source = fileURLToPath(new URL('./bin/', import.meta.url));
    for (const name of readdirSync(source)) copyFileSync(join(source, name), join(bin, name));
    mkdirSync(join(this.root, 'proc/net'), { recursive: true });
    mkdirSync(join(this.root, 'proc/self'));
    for (const file of ['proc/net/unix', 'proc/self/mounts', 'version']) writeFileSync(join(this.root, file), '');
    for (const folder of ['var/lib', 'etc', 'run', 'sys/class/net', 'sys/fs/cgroup', 'var/log']) {
      mkdirSync(join(this.root, folder), { recursive: true });
    }
    writeFileSync(
      join(this.root, 'rules'),
      '*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n',
    );
    mkdirSync(join(this.root, 'tools'));
    const tools = { ROOKERY_TOOLS: join(this.root, 'tools') };
    this.#env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, WORLD: this.root, ...tools };
    this.#before = this.#list();
  }

  provisioner(): K3sProvisioner {
    const processes = systemProcesses(this.#env);
    const local = new LocalHost(processes);
    const { root } = this;
    // Other machines of this kind may be at work, and a real k3s or Docker: processes of this one have its folder in their commands.
    const own = `$(grep -lsaF '${root}' /proc/[0-9]*/cmdline | sed 's/cmdline$/comm/')`;
    const moved = (text: string) => text.replace(PLACES, `${root}/`).replaceAll(PROCESSES, () => own);
    const reach = () => {
      if (this.isDown)
        throw new RookeryError('host.timeout', 'the machine does not answer', {
          class: 'retryable',
          hint: 'switch it on',
        });
    };
    const host: Host = {
      identity: 'root@sandbox:22',
      run: async (script: string, { args = [], ...options }: ScriptOptions = {}) => {
        reach();
        return local.run(moved(script), { ...options, args: args.map(moved), ...inputOf(options.input, moved) });
      },
      put: async (path, content, mode) => {
        reach();
        return local.put(moved(path), moved(String(content)), mode);
      },
      read: async (path) => {
        reach();
        return local.read(moved(path));
      },
      upload: async (file: string, path: string, options: UploadOptions) => {
        reach();
        return local.upload(file, moved(path), options);
      },
      close: () => {},
    };
    return new K3sProvisioner({
      processes,
      clock: systemClock,
      folder: this.folder,
      folders: new HostFolders(['/']),
      openHost: () => host,
      pollMs: 20,
      probe: async () =>
        this.server === undefined
          ? { nodes: [], missing: ['the API server does not answer'] }
          : {
              version: this.read('version')?.trim(),
              nodes: [{ name: 'sandbox', role: 'control-plane', ready: true }],
              missing: [],
            },
    });
  }

  spec(): K3sSpec {
    const keySecretRef = { name: 'key', key: 'ssh-privatekey' };
    return {
      host: { ssh: { address: '192.0.2.7', port: 22, user: 'root', keySecretRef } },
      dataDir: '/var/lib/rancher/k3s',
      port: 6443,
      supervision: 'auto',
    };
  }

  /** Process of the k3s that serves. */
  get server(): number | undefined {
    const pid = Number(this.read('serving') ?? 0);
    return pid && existsSync(`/proc/${pid}`) ? pid : undefined;
  }

  read(path: string): string | undefined {
    const file = join(this.root, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.root, path, '..'), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true, force: true });
  }

  /** Puts another version of k3s into the offline folder. */
  addVersion(version: string): void {
    const text = readFileSync(join(this.root, 'bin/k3s'), 'utf8').replace(/^version=.*$/m, `version=${version}`);
    writeFileSync(join(this.root, 'tools', `k3s-${version}`), text, { mode: 0o755 });
  }

  /** All processes of the machine, as when it loses power. */
  powerLoss(): void {
    // Some start others while they are ended.
    for (let all = this.#processes(); all.length > 0; all = this.#processes()) for (const { pid } of all) kill(pid);
    this.remove('serving');
  }

  leftovers(): string[] {
    const processes = this.#processes().map(({ command }) => command);
    const rules = this.read('rules')?.includes('KUBE-') ? ['rules'] : [];
    const files = this.#list().filter((file) => !this.#before.includes(file) && !file.startsWith('tools/'));
    return [...processes, ...rules, ...files, ...readdirSync(this.folder).map((id) => `folder ${id}`)];
  }

  close(): void {
    this.powerLoss();
    for (const folder of [this.root, this.folder]) rmSync(folder, { recursive: true, force: true });
  }

  #processes(): { pid: number; command: string }[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
      const command = commandOf(name);
      return command.includes(this.root) ? [{ pid: Number(name), command }] : [];
    });
  }

  #list(): string[] {
    return readdirSync(this.root, { recursive: true, encoding: 'utf8' });
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // ended meanwhile
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function inputOf(input: ScriptOptions['input'], moved: (text: string) => string): { input?: string } {
  return input === undefined ? {} : { input: moved(String(input)) };
}

// Machines that are containers of the node image: systemd, sshd, containerd, kubeadm. What a person would get from a cloud,
// reached over ssh, on a network of the bed's own.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../cache.ts';
import { program } from '../environment.ts';
import { type RunResult, run, tryRun, waitFor } from '../process.ts';

export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Runs a shell command on the machine over ssh; fails with its last output. */
  ssh(command: string, options?: { input?: string; timeoutMs?: number }): Promise<string>;
  trySsh(command: string): Promise<RunResult>;
  /** The port on loopback behind which a port of the machine answers, if it was published. */
  published(port: number): Promise<number>;
}

export interface MachineNetwork {
  readonly name: string;
  readonly keyFile: string;
  add(name: string, options?: { publish?: readonly number[] }): Promise<Machine>;
  /** Removes the machines, their volumes, the network and the key. */
  remove(): Promise<void>;
}

export async function machineNetwork(
  name: string,
  image: string,
  engine: Record<string, string>,
): Promise<MachineNetwork> {
  const env = { ...process.env, ...engine };
  const docker = (...args: string[]): Promise<string> =>
    run(program('docker', 'docker'), args, { env, timeoutMs: 120_000 });
  const keys = scratch('ssh');
  const keyFile = join(keys, 'id_ed25519');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'rookery-bed', '-f', keyFile]);
  await docker('network', 'create', name);
  const added: string[] = [];

  const add: MachineNetwork['add'] = async (machine, { publish = [] } = {}) => {
    const container = `${name}-${machine}`;
    added.push(container);
    await docker(
      'run',
      '-d',
      '--name',
      container,
      '--hostname',
      machine,
      '--network',
      name,
      '--network-alias',
      machine,
      '--label',
      'rookery-bed.machine',
      '--privileged',
      '--cgroupns=private',
      '--tmpfs',
      '/tmp',
      '--tmpfs',
      '/run',
      '--volume',
      '/var',
      '-v',
      '/lib/modules:/lib/modules:ro',
      ...publish.flatMap((port) => ['-p', `127.0.0.1::${port}`]),
      image,
    );
    await docker('exec', container, 'install', '-d', '-m', '0700', '/root/.ssh');
    await docker('cp', '--quiet', `${keyFile}.pub`, `${container}:/root/.ssh/authorized_keys`);
    await docker('exec', container, 'chown', '0:0', '/root/.ssh/authorized_keys');
    const address = (
      await docker('inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', container)
    ).trim();
    const options = [
      '-i',
      keyFile,
      '-o',
      'StrictHostKeyChecking=no',
      '-o',
      'UserKnownHostsFile=/dev/null',
      '-o',
      'LogLevel=ERROR',
      '-o',
      'BatchMode=yes',
      '-o',
      'ConnectTimeout=5',
    ];
    const trySsh = (command: string): Promise<RunResult> =>
      tryRun('ssh', [...options, `root@${address}`, command], { timeoutMs: 30_000 });
    await waitFor(
      `machine ${machine}`,
      60_000,
      async () => (await trySsh('systemctl is-active --quiet containerd && crictl version >/dev/null')).code === 0,
      300,
    );
    return {
      name: machine,
      address,
      trySsh,
      ssh: (command, { input, timeoutMs = 300_000 } = {}) =>
        run('ssh', [...options, `root@${address}`, command], { timeoutMs, ...(input === undefined ? {} : { input }) }),
      published: async (port) => Number((await docker('port', container, `${port}/tcp`)).trim().split(':').at(-1)),
    };
  };

  const remove = async (): Promise<void> => {
    if (added.length > 0) await tryRun(program('docker', 'docker'), ['rm', '-f', '-v', ...added], { env });
    await tryRun(program('docker', 'docker'), ['network', 'rm', name], { env });
    rmSync(keys, { recursive: true, force: true });
  };
  return { name, keyFile, add, remove };
}

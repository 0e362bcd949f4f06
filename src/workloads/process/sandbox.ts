/**
 * A shell of its own on this machine, with no container engine: it sees its own home folder and its own processes. Where the kernel allows it, it runs
 * in namespaces of its own (as root, under a user number of its own; otherwise in a user namespace); other homes and Rookery's own folder are hidden.
 */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Processes } from '../../tools/processes.ts';

export type Isolation = 'root' | 'user' | 'none';

export interface SandboxRequest {
  isolation: Isolation;
  /** Home folder of the workspace, and what must not be seen from inside. */
  home: string;
  hidden: readonly string[];
  /** Path of kubectl, if there is one. */
  kubectl?: string;
  /** Folders whose `cgroup.procs` the shell joins. */
  cgroups?: readonly string[];
  uid: number;
  command: readonly string[];
}

export interface SandboxCommand {
  program: string;
  args: string[];
  /** What the shell sees as its home folder. */
  home: string;
}

const INSIDE = '/home/student';

/** Above the numbers that systems hand out to people and services. */
export function userNumber(id: string): number {
  return 200_000 + (createHash('sha256').update(id).digest().readUInt32BE(0) % 1_000_000);
}

export async function findIsolation(processes: Processes, signal?: AbortSignal): Promise<Isolation> {
  if (process.platform !== 'linux') return 'none';
  const works = async (args: string[]) => {
    try {
      return (await processes.run('unshare', [...args, 'true'], { signal, timeoutMs: 10_000 })).code === 0;
    } catch {
      return false;
    }
  };
  const own = ['--mount', '--pid', '--fork', '--ipc', '--mount-proc'];
  if (process.getuid?.() === 0 && (await works([...own, 'setpriv', '--no-new-privs']))) return 'root';
  return (await works(['--user', '--map-root-user', ...own])) ? 'user' : 'none';
}

export function sandboxed(request: SandboxRequest): SandboxCommand {
  const { isolation, home, uid, command } = request;
  const join = (request.cgroups ?? []).map((folder) => `echo $$ > ${quote(`${folder}/cgroup.procs`)}`);
  if (isolation === 'none') return { program: '/bin/sh', args: script([...join, run(command)]), home };
  const drop =
    isolation === 'root'
      ? ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all']
      : ['setpriv', '--no-new-privs'];
  const setup = [
    ...join,
    'mount --make-rprivate /',
    // Taken before the folders they are in are hidden.
    'mount -t tmpfs -o mode=755 tmpfs /mnt',
    'mkdir -p /mnt/student /mnt/bin',
    `mount --bind ${quote(home)} /mnt/student`,
    ...(request.kubectl ? [`mount --bind ${quote(dirname(request.kubectl))} /mnt/bin`] : []),
    ...hide(request.hidden),
    'mount -t tmpfs -o mode=755 tmpfs /home',
    `mkdir -p ${INSIDE} /home/bin`,
    `mount --bind /mnt/student ${INSIDE}`,
    ...(request.kubectl ? ['mount --bind /mnt/bin /home/bin'] : []),
    'umount -R /mnt',
    'mount -t tmpfs -o mode=1777 tmpfs /tmp',
    'mount -t proc proc /proc',
    `cd ${INSIDE}`,
    run([...drop, ...command]),
  ];
  const namespaces = ['--mount', '--pid', '--ipc', '--fork', '--kill-child'];
  const user = isolation === 'user' ? ['--user', '--map-root-user'] : [];
  return { program: 'unshare', args: [...user, ...namespaces, '--', '/bin/sh', ...script(setup)], home: INSIDE };
}

/** Where kubectl is found inside. */
export const INSIDE_BIN = '/home/bin';

function hide(folders: readonly string[]): string[] {
  return folders.map((folder) => `[ ! -d ${quote(folder)} ] || mount -t tmpfs -o mode=700 tmpfs ${quote(folder)}`);
}

function script(lines: string[]): string[] {
  return ['-c', ['set -e', ...lines].join('\n'), 'workspace'];
}

function run(command: readonly string[]): string {
  return `exec ${command.map(quote).join(' ')}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

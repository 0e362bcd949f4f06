/**
 * A shell of its own on this machine, with no container engine: it sees its own home folder and its own processes. Where the kernel allows it, it runs
 * in namespaces of its own (as root, under a user number of its own; otherwise in a user namespace); other homes and Rookery's own folder are hidden.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { RookeryError } from '../../errors.ts';
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
  /** What the command gets. What prepares its place runs before, as root, and gets none of it: a PATH may lead into the student's home. */
  env: Readonly<Record<string, string>>;
  command: readonly string[];
}

export interface SandboxCommand {
  program: string;
  args: string[];
}

/** What a shell sees as its home folder, and where it finds kubectl. */
export const INSIDE = '/home/student';
export const INSIDE_BIN = '/home/bin';
/** Where everybody may write: each workspace has its own. */
const COMMON = ['/tmp', '/var/tmp', '/dev/shm', '/run/lock'];
/** The home is held in one of them while everything around it is covered: nothing that matters may be below it. */
const STAGES = ['/mnt', '/media', '/srv', '/opt'];
/** Whoever may use it is root. */
const DOCKER_SOCKET = '/run/docker.sock';

/** Above the numbers that systems hand out to people, services and containers; so many that two workspaces hardly ever share one. */
export function userNumber(id: string): number {
  return 1_900_000_000 + (createHash('sha256').update(id).digest().readUInt32BE(0) % 200_000_000);
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
  const { isolation, home, uid, kubectl } = request;
  const join = (request.cgroups ?? []).map((folder) => `echo $$ > ${quote(`${folder}/cgroup.procs`)}`);
  const env = Object.entries(request.env).map(([key, value]) => `${key}=${value}`);
  const command = ['env', '-i', ...env, ...request.command];
  if (isolation === 'none') {
    return { program: '/bin/sh', args: script([...join, `cd ${quote(home)}`, `exec ${words(command)}`]) };
  }
  // Without capabilities, or somebody who is root in a user namespace takes the covers off again.
  const drop = ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  if (isolation === 'root') drop.push(`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups');
  const stage = stageFor(request);
  const setup = [
    ...join,
    'mount --make-rprivate /',
    // Taken before the folders they are in are hidden.
    `mount -t tmpfs -o mode=755 tmpfs ${stage}`,
    `mkdir ${stage}/student`,
    `mount --bind ${quote(home)} ${stage}/student`,
    ...(kubectl ? [`touch ${stage}/kubectl`, `mount --bind ${quote(kubectl)} ${stage}/kubectl`] : []),
    ...request.hidden.map((folder) => cover(folder, '700')),
    'mount -t tmpfs -o mode=755 tmpfs /home',
    `mkdir -p ${INSIDE} ${INSIDE_BIN}`,
    `mount --bind ${stage}/student ${INSIDE}`,
    ...(kubectl ? offer(`${stage}/kubectl`, `${INSIDE_BIN}/kubectl`) : []),
    `umount -R ${stage}`,
    ...COMMON.map((folder) => cover(folder, '1777')),
    `[ ! -e ${DOCKER_SOCKET} ] || mount --bind /dev/null ${DOCKER_SOCKET}`,
    // Terminals of other shells of the same user.
    ...(isolation === 'user' ? ['mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts'] : []),
    'mount -t proc proc /proc',
    `cd ${INSIDE}`,
    // Not exec: this shell stays as the first process, which dies with its parent; one that changed its user would not.
    words([...drop, ...command]),
  ];
  const namespaces = ['--mount', '--pid', '--ipc', '--fork', '--kill-child'];
  const user = isolation === 'user' ? ['--user', '--map-root-user'] : [];
  return { program: 'unshare', args: [...user, ...namespaces, '--', '/bin/sh', ...script(setup)] };
}

function stageFor({ home, kubectl, hidden }: SandboxRequest): string {
  const places = [home, ...(kubectl ? [kubectl] : []), ...hidden];
  const isFree = (folder: string) => places.every((path) => path !== folder && !path.startsWith(`${folder}/`));
  const stage = STAGES.find((folder) => existsSync(folder) && isFree(folder));
  if (stage) return stage;
  throw new RookeryError(
    'workspace.sandbox',
    `a shell needs one of ${STAGES.join(', ')} with nothing of Rookery in it`,
    {
      class: 'user',
      hint: 'move Rookery to another folder (--home), or make one of them',
    },
  );
}

function cover(folder: string, mode: string): string {
  return `[ ! -d ${quote(folder)} ] || mount -t tmpfs -o mode=${mode},size=512m tmpfs ${quote(folder)}`;
}

/** To be run, not to be changed; where that cannot be had it is not offered. */
function offer(source: string, target: string): string[] {
  return [
    `touch ${target}`,
    `mount --bind ${source} ${target}`,
    `mount -o remount,bind,ro ${target} || umount ${target}`,
  ];
}

function script(lines: string[]): string[] {
  return ['-c', ['set -e', ...lines].join('\n'), 'workspace'];
}

function words(command: readonly string[]): string {
  return command.map(quote).join(' ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

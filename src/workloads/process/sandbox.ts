/**
 * A shell of its own on this machine, with no container engine: it sees its own home folder and its own processes. Where the kernel allows it, it runs
 * in namespaces of its own (as root, under a user number of its own; otherwise in a user namespace); other homes and Rookery's own folder are hidden.
 */
import { existsSync } from 'node:fs';
import { RookeryError } from '../../errors.ts';
import type { Isolation } from './containment.ts';

export interface SandboxRequest {
  isolation: Isolation;
  /** Home folder of the workspace, and what must not be seen from inside. */
  home: string;
  hidden: readonly string[];
  /** Path of kubectl, if there is one. */
  kubectl?: string;
  /** Folders whose `cgroup.procs` the shell joins. */
  cgroups?: readonly string[];
  /** Number of the user that the command runs as; needed as root. */
  user?: number;
  /** Loads the filter of system calls; put before the command. */
  filter?: readonly string[];
  /** Nothing: the network of this machine. */
  network?: ShellNetwork;
  /** What the command gets. What prepares its place runs before, as root, and gets none of it: a PATH may lead into the student's home. */
  env: Readonly<Record<string, string>>;
  command: readonly string[];
}

/** None at all, or one that is entered, with a folder that has its `hosts` and `resolv.conf`. */
export type ShellNetwork = 'none' | { entry: readonly string[]; files: string };

export interface SandboxCommand {
  program: string;
  args: string[];
}

/** What a shell sees as its home folder, and where it finds kubectl. */
export const INSIDE = '/home/student';
export const INSIDE_BIN = '/home/bin';
/** Where everybody may write: each workspace has its own. */
const COMMON = ['/tmp', '/var/tmp', '/dev/shm'];
/** Terminals that programs inside (tmux, script) may open. */
const TERMINALS = 128;
/** The home is held in one of them while everything around it is covered: nothing that matters may be below it. */
const STAGES = ['/mnt', '/media', '/srv', '/opt'];
/** Sockets of the services of this machine (Docker's, for one, makes its users root). */
const SERVICES = '/run';

export function sandboxed(request: SandboxRequest): SandboxCommand {
  const { isolation, home, user, kubectl, network, filter = [] } = request;
  const join = (request.cgroups ?? []).map((folder) => `echo $$ > ${quote(`${folder}/cgroup.procs`)}`);
  const env = Object.entries(request.env).map(([key, value]) => `${key}=${value}`);
  const command = [...filter, 'env', '-i', ...env, ...request.command];
  if (isolation === 'none') {
    const plain = filter.length > 0 ? ['setpriv', '--no-new-privs', '--', ...command] : command;
    return { program: '/bin/sh', args: script([...join, `cd ${quote(home)}`, `exec ${words(plain)}`]) };
  }
  // Without capabilities, or somebody who is root in a user namespace takes the covers off again.
  const drop = ['setpriv', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  if (isolation === 'root') drop.push(`--reuid=${user}`, `--regid=${user}`, '--clear-groups');
  const stage = stageFor(request);
  const files = typeof network === 'object' ? network.files : undefined;
  const setup = [
    ...join,
    'mount --make-rprivate /',
    // Taken before the folders they are in are hidden.
    `mount -t tmpfs -o mode=755 tmpfs ${stage}`,
    `mkdir ${stage}/student`,
    `mount --bind ${quote(home)} ${stage}/student`,
    ...(kubectl ? [`touch ${stage}/kubectl`, `mount --bind ${quote(kubectl)} ${stage}/kubectl`] : []),
    ...(files ? [`mkdir ${stage}/etc`, `mount --bind ${quote(files)} ${stage}/etc`, FIND_RESOLVER] : []),
    ...request.hidden.map((folder) => cover(folder, '700')),
    'mount -t tmpfs -o mode=755 tmpfs /home',
    `mkdir -p ${INSIDE} ${INSIDE_BIN}`,
    `mount --bind ${stage}/student ${INSIDE}`,
    ...(kubectl ? offer(`${stage}/kubectl`, `${INSIDE_BIN}/kubectl`) : []),
    ...COMMON.map((folder) => cover(folder, '1777')),
    cover(SERVICES, '755'),
    `[ ! -d ${SERVICES} ] || mkdir -m 1777 ${SERVICES}/lock`,
    ...(files ? nameFiles(`${stage}/etc`) : []),
    `umount -R ${stage}`,
    // Terminals of other shells are not seen, and one workspace cannot use up the machine's.
    `mount -t devpts -o newinstance,ptmxmode=0666,max=${TERMINALS} devpts /dev/pts`,
    'mount -t proc proc /proc',
    `cd ${INSIDE}`,
    // Not exec: this shell stays as the first process, which dies with its parent; one that changed its user would not.
    words([...drop, ...command]),
  ];
  const shell = ['--mount', '--pid', '--ipc', '--fork', '--kill-child', '--', '/bin/sh', ...script(setup)];
  // What runs does not outlive Rookery, however that ends.
  return { program: 'setpriv', args: ['--pdeathsig', 'KILL', '--', ...entryOf(isolation, network), ...shell] };
}

/** A network that is entered brings the user namespace that it belongs to. */
function entryOf(isolation: Isolation, network: ShellNetwork | undefined): string[] {
  if (typeof network === 'object') return [...network.entry, 'unshare'];
  const owner = isolation === 'user' ? ['--user', '--map-root-user'] : [];
  return ['unshare', ...owner, ...(network === 'none' ? ['--net'] : [])];
}

/** Often a link into what is covered next. */
const FIND_RESOLVER = 'resolver=$(readlink -f /etc/resolv.conf || true)';

/** How names are found inside. */
function nameFiles(folder: string): string[] {
  return [
    `[ ! -e /etc/hosts ] || mount --bind ${folder}/hosts /etc/hosts`,
    `case "$resolver" in ${SERVICES}/*) mkdir -p "$(dirname "$resolver")"; touch "$resolver";; esac`,
    `[ ! -e "$resolver" ] || mount --bind ${folder}/resolv.conf "$resolver"`,
  ];
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

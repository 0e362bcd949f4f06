/** How far this machine keeps shells apart: what its kernel allows to the user that Rookery runs as, found by trying. What is missing is said, never skipped. */
import { existsSync } from 'node:fs';
import type { Privileged } from '../../privileged/privileged.ts';
import type { Processes } from '../../tools/processes.ts';
import { withLoopback } from './network/open-doors.ts';
import { filterLoader, PERL } from './seccomp/load-filter.ts';

/** Namespaces of their own as root, inside a user namespace, or none. */
export type Isolation = 'root' | 'user' | 'none';

export interface Containment {
  isolation: Isolation;
  /** Whether each workspace has a network of its own. */
  hasNetwork: boolean;
  /** Loads the filter of system calls; put before a command. */
  filter?: string[];
  /** What does not hold here, and why: sentences for people. */
  gaps: Gap[];
}

export interface Gap {
  /** What follows from it. */
  what: string;
  why: string;
  fix: string;
}

const NAMESPACES = ['--mount', '--pid', '--fork', '--ipc', '--mount-proc'];
const IN_USER_NAMESPACE = ['--user', '--map-root-user'];
const TRY_MS = 30_000;

export async function findContainment(
  processes: Processes,
  privileged: Privileged,
  signal?: AbortSignal,
): Promise<Containment> {
  const attempt = (program: string, args: readonly string[]) => failureOf(processes, program, args, signal);
  const { isolation, why } = await findIsolation(attempt, privileged);
  const network = isolation === 'none' ? why : await networkGap(attempt, isolation);
  const loader = filterLoader();
  const filter = loader ? await filterGap(attempt, loader) : `there is no filter for ${process.arch}`;
  const gaps: Gap[] = [];
  if (isolation === 'none') {
    const what = 'shells are not kept apart from each other: they see the files, processes and network of this user';
    gaps.push({ what, why, fix: 'run Rookery on Linux where user namespaces are allowed, or as root' });
  } else if (network) gaps.push({ what: 'shells use the network of this machine', why: network, fix: fixFor() });
  if (filter) gaps.push({ what: 'system calls of shells are not filtered', why: filter, fix: fixFor() });
  return { isolation, hasNetwork: !network, ...(filter ? {} : { filter: loader }), gaps };
}

async function networkGap(attempt: Attempt, isolation: Isolation): Promise<string | undefined> {
  const owner = isolation === 'user' ? IN_USER_NAMESPACE : [];
  return perlMissing() ?? (await attempt('unshare', [...owner, '--net', '--', ...withLoopback([], ['true'])]));
}

async function filterGap(attempt: Attempt, loader: readonly string[]): Promise<string | undefined> {
  return perlMissing() ?? (await attempt('setpriv', ['--no-new-privs', '--', ...loader, 'true']));
}

async function findIsolation(
  attempt: Attempt,
  { refusal }: Privileged,
): Promise<{ isolation: Isolation; why: string }> {
  if (process.platform !== 'linux') return { isolation: 'none', why: 'this is not Linux' };
  if (!refusal && !(await attempt('unshare', [...NAMESPACES, 'setpriv', '--no-new-privs', 'true']))) {
    return { isolation: 'root', why: '' };
  }
  const why = await attempt('unshare', [...IN_USER_NAMESPACE, ...NAMESPACES, 'true']);
  return why ? { isolation: 'none', why } : { isolation: 'user', why: '' };
}

type Attempt = (program: string, args: readonly string[]) => Promise<string | undefined>;

/** Undefined: it works. */
async function failureOf(
  processes: Processes,
  program: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    const { code, stderr } = await processes.run(program, args, { signal, timeoutMs: TRY_MS });
    return code === 0 ? undefined : stderr.trim().split('\n')[0] || `${program} ended with ${code}`;
  } catch (error) {
    signal?.throwIfAborted();
    return (error as Error).message;
  }
}

function perlMissing(): string | undefined {
  return existsSync(PERL) ? undefined : `there is no ${PERL}`;
}

function fixFor(): string {
  return existsSync(PERL) ? 'allow it in the kernel, or where Rookery is a container, in its settings' : 'install perl';
}

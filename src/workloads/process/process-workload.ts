/**
 * Workspaces as plain shells on this machine: nothing has to be installed. Each has a folder: its home (kept over suspend and steps), its kubeconfig
 * and what was asked for. A shell exists only while somebody uses it; what matters is in the folder.
 */
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { RookeryError } from '../../errors.ts';
import type { Availability, Removal } from '../../tools/outcomes.ts';
import type { Processes } from '../../tools/processes.ts';
import type {
  CommandResult,
  Terminal,
  TerminalSize,
  Workload,
  WorkloadRequest,
  WorkloadState,
  WorkspaceRef,
} from '../workload.ts';
import { isUnified, limitGroups, removeGroups } from './cgroup.ts';
import { findIsolation, INSIDE_BIN, type Isolation, type SandboxCommand, sandboxed, userNumber } from './sandbox.ts';

export interface ProcessWorkloadOptions {
  processes: Processes;
  /** A folder for each workspace is made here. */
  folder: string;
  /** Rookery's own folder and whatever else nobody in a workspace may see. */
  hidden: readonly string[];
}

/** For a new home; from then on it is the student's. */
const BASHRC = String.raw`PS1='\[\e[32m\]$WORKSPACE\[\e[0m\]:\[\e[34m\]\w\[\e[0m\]\$ '
alias k=kubectl
command -v kubectl >/dev/null && . <(kubectl completion bash 2>/dev/null) && complete -o default -F __start_kubectl k
`;

interface Note {
  name: string;
  step: string;
  env: Record<string, string>;
  limits?: WorkloadRequest['limits'];
}

export class ProcessWorkload implements Workload {
  readonly name = 'process';
  readonly audience = 'external';
  readonly #options: ProcessWorkloadOptions;
  readonly #shells = new Map<string, Set<Terminal>>();
  #isolation: Promise<Isolation> | undefined;
  #kubectl: Promise<string | undefined> | undefined;

  constructor(options: ProcessWorkloadOptions) {
    this.#options = options;
  }

  async probe(signal?: AbortSignal): Promise<Availability> {
    const isolation = await findIsolation(this.#options.processes, signal);
    const groups = isUnified() ? 'control groups v2' : 'control groups v1';
    const details: Record<Isolation, string> = {
      root: `shells in namespaces of their own, each under its own user; limits by ${groups}`,
      user: 'shells in user namespaces; limits are not enforced without root',
      none: 'plain shells of this user: they are NOT kept apart from each other',
    };
    return { isUsable: true, version: '', detail: details[isolation] };
  }

  async ensure(request: WorkloadRequest, _signal?: AbortSignal): Promise<WorkloadState> {
    const { id, name, step } = request;
    const home = this.#path(id, 'home');
    await mkdir(home, { recursive: true, mode: 0o700 });
    if (!(await isThere(join(home, '.bashrc')))) await this.#put(home, '.bashrc', BASHRC, '0644');
    const note: Note = { name, step: step.id, env: step.env ?? {}, limits: request.limits };
    const known = await this.#note(id);
    // A step's files come once, when it begins: what the student made of them since is theirs.
    if (known?.step !== step.id) {
      for (const file of step.files ?? []) await this.#put(home, file.path, file.content, file.mode ?? '0644');
    }
    if (request.kubeconfig !== undefined) await this.#put(home, '.kube/config', request.kubeconfig, '0600');
    await limitGroups(id, request.limits);
    await this.#own(home, id);
    if (JSON.stringify(known) !== JSON.stringify(note)) {
      await writeFile(this.#path(id, 'workspace.json'), JSON.stringify(note), { mode: 0o600 });
    }
    return { phase: 'ready', reason: 'Ready', message: '' };
  }

  async suspend({ id }: WorkspaceRef): Promise<void> {
    for (const shell of this.#shells.get(id) ?? []) shell.close();
    await removeGroups(id);
  }

  async remove(ref: WorkspaceRef): Promise<Removal> {
    await this.suspend(ref);
    const folder = this.#path(ref.id);
    const removed = (await isThere(folder)) ? [`folder ${ref.id}`] : [];
    await rm(folder, { recursive: true, force: true });
    return { isDone: true, removed, reason: 'Removed', message: 'the shells have ended and the folder is gone' };
  }

  async inventory(): Promise<{ ref: WorkspaceRef; what: string }[]> {
    const ids = await readdir(this.#options.folder).catch(() => [] as string[]);
    return await Promise.all(
      ids.map(async (id) => ({ ref: { id, name: (await this.#note(id))?.name ?? id }, what: `folder ${id}` })),
    );
  }

  async terminal(ref: WorkspaceRef, { columns, rows }: TerminalSize): Promise<Terminal> {
    const { program, args, home, env } = await this.#inside(ref.id, [
      (await isThere('/bin/bash')) ? '/bin/bash' : '/bin/sh',
    ]);
    const { spawn } = await import('node-pty');
    const pty = spawn(program, args, { name: 'xterm-256color', cols: columns, rows, cwd: home.outside, env });
    const shells = this.#shells.get(ref.id) ?? new Set();
    this.#shells.set(ref.id, shells);
    let isOver = false;
    const terminal: Terminal = {
      write: (data) => pty.write(data),
      resize: (wide, high) => void (isOver || pty.resize(wide, high)),
      onData: (listener) => void pty.onData(listener),
      onExit: (listener) => void pty.onExit(({ exitCode }) => listener(exitCode)),
      close: () => void (isOver || pty.kill('SIGKILL')),
    };
    pty.onExit(() => {
      isOver = true;
      shells.delete(terminal);
    });
    shells.add(terminal);
    return terminal;
  }

  async run(
    ref: WorkspaceRef,
    command: string,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<CommandResult> {
    const { program, args, env } = await this.#inside(ref.id, ['/bin/sh', '-c', command]);
    const limited = ['-i', ...Object.entries(env).map(([key, value]) => `${key}=${value}`), program, ...args];
    return await this.#options.processes.run('env', limited, { timeoutMs, signal });
  }

  async #inside(id: string, command: string[]) {
    const note = await this.#note(id);
    if (!note) {
      throw new RookeryError('workspace.not-running', 'the workspace has not been set up', { class: 'retryable' });
    }
    this.#isolation ??= findIsolation(this.#options.processes);
    this.#kubectl ??= findKubectl(this.#options.processes.env.PATH);
    const [isolation, kubectl] = await Promise.all([this.#isolation, this.#kubectl]);
    const outside = this.#path(id, 'home');
    const cgroups = await limitGroups(id, note.limits);
    const sandbox = sandboxed({
      isolation,
      home: outside,
      hidden: this.#options.hidden,
      kubectl,
      cgroups,
      uid: userNumber(id),
      command,
    });
    return { ...sandbox, home: { inside: sandbox.home, outside }, env: environment(note, sandbox, isolation, kubectl) };
  }

  async #put(home: string, path: string, content: string, mode: string): Promise<void> {
    const file = join(home, path);
    await refuseLinks(home, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(file, content, { mode: Number.parseInt(mode, 8) });
    await chmod(file, Number.parseInt(mode, 8));
  }

  /** As root the shell runs under a number of its own, which must own its home. */
  async #own(folder: string, id: string): Promise<void> {
    if (process.getuid?.() !== 0) return;
    const uid = userNumber(id);
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    for (const path of [folder, ...entries.filter((e) => !e.isSymbolicLink()).map((e) => join(e.parentPath, e.name))]) {
      if ((await lstat(path)).uid !== uid) await chown(path, uid, uid);
    }
  }

  async #note(id: string): Promise<Note | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(id, 'workspace.json'), 'utf8')) as Note;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #path(...parts: string[]): string {
    return join(this.#options.folder, ...parts);
  }
}

function environment(
  note: Note,
  { home }: SandboxCommand,
  isolation: Isolation,
  kubectl: string | undefined,
): Record<string, string> {
  const tools = isolation === 'none' ? kubectl && dirname(kubectl) : kubectl && INSIDE_BIN;
  return {
    HOME: home,
    KUBECONFIG: `${home}/.kube/config`,
    PATH: [tools, '/usr/local/bin', '/usr/bin', '/bin'].filter(Boolean).join(delimiter),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    USER: 'student',
    WORKSPACE: note.name,
    ...note.env,
  };
}

/** A student may replace folders of the home by links; as root we must not follow them out of it. */
async function refuseLinks(home: string, path: string): Promise<void> {
  let current = home;
  for (const part of path.split('/')) {
    current = join(current, part);
    const state = await lstat(current).catch(() => undefined);
    if (state?.isSymbolicLink()) await rm(current);
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

async function findKubectl(path = ''): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, 'kubectl');
    if (await isThere(file)) return file;
  }
  return undefined;
}

/**
 * Workspaces as plain shells on this machine: nothing has to be installed. Each has a folder: its home (kept over suspend and steps), its kubeconfig
 * and what was asked for. A shell exists only while somebody uses it; what matters is in the folder.
 */
import { createHash } from 'node:crypto';
import { chmod, lchown, lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { Availability, Removal } from '../../tools/outcomes.ts';
import type { Processes } from '../../tools/processes.ts';
import { quantityValue } from '../quantity.ts';
import type {
  CommandResult,
  StepFile,
  Terminal,
  TerminalSize,
  Workload,
  WorkloadRequest,
  WorkloadState,
  WorkspaceRef,
} from '../workload.ts';
import { isUnified, limitGroups, removeGroups, sweepGroups } from './cgroup.ts';
import { limitDisk } from './disk-quota.ts';
import {
  findIsolation,
  INSIDE,
  INSIDE_BIN,
  type Isolation,
  type SandboxCommand,
  sandboxed,
  userNumber,
} from './sandbox.ts';
import { WorkloadLog } from './workload-log.ts';

export interface ProcessWorkloadOptions {
  processes: Processes;
  /** A folder for each workspace is made here. */
  folder: string;
  /** Rookery's own folder and whatever else nobody in a workspace may see. */
  hidden: readonly string[];
  clock?: Clock;
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
  /** Hash of the kubeconfig that was delivered. */
  kubeconfig?: string;
  /** Paths of all files that steps have brought. */
  brought?: string[];
}

/** Run by the student's own shell: what it finds in the way (links, say) leads no further than the student gets anyway. */
const PUT = 'mkdir -p "$(dirname "$1")" && rm -f "$1" && cat > "$1" && chmod "$2" "$1"';
const PUT_MS = 20_000;

export class ProcessWorkload implements Workload {
  readonly name = 'process';
  readonly audience = 'external';
  readonly #options: ProcessWorkloadOptions;
  readonly #shells = new Map<string, Set<Terminal>>();
  /** Suspended or removed: nothing starts in them, whoever asked before. */
  readonly #stopped = new Set<string>();
  /** Why what a workspace writes is not limited. */
  readonly #unlimited = new Map<string, string>();
  readonly #log: WorkloadLog;
  #isolation: Promise<Isolation> | undefined;
  #swept: Promise<void> | undefined;
  #kubectl: Promise<string | undefined> | undefined;

  constructor(options: ProcessWorkloadOptions) {
    this.#options = options;
    this.#log = new WorkloadLog(options.clock ?? systemClock);
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
    const { id, name, step, kubeconfig, limits } = request;
    const known = await this.#note(id);
    const digest = kubeconfig && createHash('sha256').update(kubeconfig).digest('hex');
    // When a step begins, and not again while it lasts: what the student makes of it is theirs.
    const files: StepFile[] = known?.step === step.id ? [] : filesOf(step, known?.brought ?? []);
    const brought = [...new Set([...(known?.brought ?? []), ...files.map(({ path }) => path)])];
    const env = step.env ?? {};
    const note: Note = { name, step: step.id, env, limits, kubeconfig: digest ?? known?.kubeconfig, brought };
    if (kubeconfig && known?.kubeconfig !== digest) {
      files.push({ path: '.kube/config', content: kubeconfig, mode: '0600' });
    }
    this.#stopped.delete(id);
    if (known) for (const file of files) await this.#put(id, file);
    else await this.#furnish(id, [{ path: '.bashrc', content: BASHRC }, ...files]);
    this.#swept ??= this.#sweep();
    await this.#swept;
    await limitGroups(id, limits);
    if (JSON.stringify(known) !== JSON.stringify(note)) await this.#remember(id, note);
    const what = known ? files.map(({ path }) => `~/${path}`).join(', ') : 'the home folder';
    if (what) await this.#tell(id, `step ${step.id}: ${what} put in place`);
    const message = await this.#limitDisk(id, known?.limits?.disk, limits?.disk);
    return { phase: 'ready', reason: 'Ready', message };
  }

  /** Once by each process of ours: what is left of homes that are gone has nobody else to remove it. */
  async #sweep(): Promise<void> {
    await sweepGroups(new Set(await readdir(this.#options.folder).catch(() => [])));
  }

  /** Told each time, done when it changes, and once by each process of ours. */
  async #limitDisk(id: string, before: string | undefined, wanted: string | undefined): Promise<string> {
    const { processes, folder } = this.#options;
    if (before !== wanted || (wanted && !this.#unlimited.has(id))) {
      const why = await limitDisk(processes, folder, userNumber(id), wanted ? quantityValue(wanted) : 0);
      this.#unlimited.set(id, wanted && why ? `resources.disk is not enforced here: ${why}` : '');
    }
    return this.#unlimited.get(id) ?? '';
  }

  async suspend({ id }: WorkspaceRef): Promise<void> {
    const open = this.#shells.get(id)?.size ?? 0;
    if (open > 0) await this.#tell(id, `stopped: ${open} shells are ended`);
    this.#stopped.add(id);
    for (const shell of this.#shells.get(id) ?? []) shell.close();
    this.#shells.delete(id);
    await removeGroups(id);
  }

  async remove(ref: WorkspaceRef): Promise<Removal> {
    await this.suspend(ref);
    await this.#log.settled();
    const folder = this.#path(ref.id);
    const disk = (await this.#note(ref.id).catch(() => undefined))?.limits?.disk;
    if (disk) await limitDisk(this.#options.processes, this.#options.folder, userNumber(ref.id), 0);
    this.#unlimited.delete(ref.id);
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
    const shell = (await isThere('/bin/bash')) ? '/bin/bash' : '/bin/sh';
    const { program, args } = await this.#inside(ref.id, [shell]);
    const { spawn } = await import('node-pty');
    this.#refuseStopped(ref.id);
    const env = { PATH: this.#options.processes.env.PATH ?? '' };
    const pty = spawn(program, args, { name: 'xterm-256color', cols: columns, rows, env });
    const shells = this.#shells.get(ref.id) ?? new Set();
    this.#shells.set(ref.id, shells);
    let isOver = false;
    const terminal: Terminal = {
      write: (data) => pty.write(data),
      resize: (wide, high) => void (isOver || pty.resize(wide, high)),
      pause: () => void (isOver || pty.pause()),
      resume: () => void (isOver || pty.resume()),
      onData: (listener) => void pty.onData(listener),
      onExit: (listener) => void pty.onExit(({ exitCode }) => listener(exitCode)),
      close: () => void (isOver || pty.kill('SIGKILL')),
    };
    pty.onExit(({ exitCode, signal }) => {
      isOver = true;
      shells.delete(terminal);
      void this.#tell(ref.id, `shell ${pty.pid} ended with ${signal ? `signal ${signal}` : exitCode}`);
    });
    shells.add(terminal);
    // Not waited for: what the shell says first would have nobody to listen.
    void this.#tell(ref.id, `shell ${pty.pid} started`);
    return terminal;
  }

  async run(
    ref: WorkspaceRef,
    command: string,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<CommandResult> {
    const { program, args } = await this.#inside(ref.id, ['/bin/sh', '-c', command]);
    this.#refuseStopped(ref.id);
    const result = await this.#options.processes.run(program, args, { timeoutMs, signal });
    const [said = ''] = (result.stderr || result.stdout).trim().split('\n');
    await this.#tell(ref.id, `${command} ended with ${result.code}${result.code !== 0 && said ? `: ${said}` : ''}`);
    return result;
  }

  async logs({ id }: WorkspaceRef, since?: string): Promise<string[]> {
    return await this.#log.read(this.#path(id, 'log'), since);
  }

  async #tell(id: string, text: string): Promise<void> {
    // From then on its folder may be removed.
    if (!this.#stopped.has(id)) await this.#log.write(this.#path(id, 'log'), text);
  }

  async #inside(id: string, command: string[]): Promise<SandboxCommand> {
    const note = await this.#note(id);
    if (!note) throw notRunning('has not been set up');
    this.#isolation ??= findIsolation(this.#options.processes);
    this.#kubectl ??= findKubectl(this.#options.processes.env.PATH);
    const [isolation, kubectl] = await Promise.all([this.#isolation, this.#kubectl]);
    this.#refuseStopped(id);
    const cgroups = await limitGroups(id, note.limits);
    if (this.#stopped.has(id)) await removeGroups(id);
    const home = this.#path(id, 'home');
    const env = environment(note, isolation === 'none' ? home : INSIDE, isolation, kubectl);
    const { hidden } = this.#options;
    return sandboxed({ isolation, home, hidden, kubectl, cgroups, uid: userNumber(id), env, command });
  }

  #refuseStopped(id: string): void {
    if (this.#stopped.has(id)) throw notRunning('is stopped');
  }

  /** A home that nobody has been in yet: nothing in it can lead elsewhere. */
  async #furnish(id: string, files: readonly StepFile[]): Promise<void> {
    const home = this.#path(id, 'home');
    await mkdir(home, { recursive: true, mode: 0o700 });
    for (const { path, content, mode = '0644' } of files) {
      const file = join(home, path);
      await mkdir(dirname(file), { recursive: true, mode: 0o755 });
      await writeFile(file, content);
      await chmod(file, Number.parseInt(mode, 8));
    }
    if (process.getuid?.() !== 0) return;
    // As root, shells run under a number of their own, which must own its home.
    const uid = userNumber(id);
    const entries = await readdir(home, { withFileTypes: true, recursive: true });
    for (const path of [home, ...entries.map((entry) => join(entry.parentPath, entry.name))]) {
      await lchown(path, uid, uid);
    }
  }

  async #put(id: string, { path, content, mode = '0644' }: StepFile): Promise<void> {
    const { program, args } = await this.#inside(id, ['/bin/sh', '-c', PUT, 'put', path, mode]);
    const options = { input: content, timeoutMs: PUT_MS };
    const { code, stderr } = await this.#options.processes.run(program, args, options);
    if (code === 0) return;
    const message = `~/${path} cannot be written in the workspace: ${stderr.trim()}`;
    throw new RookeryError('workspace.file', message, {
      class: 'retryable',
      hint: 'make room for it in the home folder; tried again every 15 s',
    });
  }

  /** Whole or not at all, whenever we are killed. */
  async #remember(id: string, note: Note): Promise<void> {
    const file = this.#path(id, 'workspace.json');
    await writeFile(`${file}.new`, JSON.stringify(note), { mode: 0o600 });
    await rename(`${file}.new`, file);
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

/** Its own, and of the steps before it what never came because somebody jumped. */
function filesOf({ files = [], earlierFiles = [] }: WorkloadRequest['step'], brought: readonly string[]): StepFile[] {
  const there = new Set([...brought, ...files.map(({ path }) => path)]);
  return [...earlierFiles.filter(({ path }) => !there.has(path)), ...files];
}

function environment(
  note: Note,
  home: string,
  isolation: Isolation,
  kubectl: string | undefined,
): Record<string, string> {
  const tools = kubectl && (isolation === 'none' ? dirname(kubectl) : INSIDE_BIN);
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

function notRunning(what: string): RookeryError {
  return new RookeryError('workspace.not-running', `the workspace ${what}`, { class: 'retryable' });
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
    if (await isThere(file)) return await realpath(file);
  }
  return undefined;
}

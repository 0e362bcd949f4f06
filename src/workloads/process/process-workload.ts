/**
 * Workspaces as plain shells on this machine: nothing has to be installed. Each has a folder: its home (kept over suspend and steps), its kubeconfig
 * and what was asked for. A shell exists only while somebody uses it; what matters is in the folder.
 */
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { hostGuard } from '../../network/host-guard.ts';
import type { Limits } from '../../privileged/control-groups.ts';
import { type Privileged, privilegesOf } from '../../privileged/privileged.ts';
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
import type { Isolation } from './containment.ts';
import { type Destination, serverOf, serversOf } from './network/destination.ts';
import type { SandboxCommand } from './sandbox.ts';
import { Sandboxes } from './sandboxes.ts';
import { WorkloadLog } from './workload-log.ts';

export interface ProcessWorkloadOptions {
  processes: Processes;
  /** A folder for each workspace is made here. */
  folder: string;
  /** Rookery's own folder and whatever else nobody in a workspace may see. */
  hidden: readonly string[];
  /** Where Rookery's own API is served, such as `https://127.0.0.1:7443`: on this machine, shells reach nothing else unless their template says so. */
  apiServer?: string;
  privileged?: Privileged;
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
  /** What may be reached: the servers of its kubeconfig, and what the template allows. */
  servers?: Destination[];
  egress?: readonly Destination[];
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
  readonly #privileged: Privileged;
  readonly #sandboxes: Sandboxes;
  #swept: Promise<void> | undefined;

  constructor(options: ProcessWorkloadOptions) {
    this.#options = options;
    const { processes, folder, hidden } = options;
    const privileged = options.privileged ?? privilegesOf(processes);
    this.#privileged = privileged;
    const tell = (id: string, text: string) => void this.#tell(id, text);
    const refuseStopped = (id: string) => this.#refuseStopped(id);
    this.#sandboxes = new Sandboxes({ processes, privileged, folder, hidden, refuseStopped, tell });
    this.#log = new WorkloadLog(options.clock ?? systemClock);
  }

  async probe(): Promise<Availability> {
    const { isolation, gaps } = await this.#sandboxes.containment();
    const limits = this.#privileged.refusal
      ? `limits are not enforced: ${this.#privileged.refusal}`
      : 'limits by control groups';
    const details: Record<Isolation, string> = {
      root: `shells in namespaces and a network of their own, each under its own user; ${limits}`,
      user: `shells in user namespaces and a network of their own; ${limits}`,
      none: 'plain shells of this user',
    };
    const detail = [details[isolation], ...gaps.map(({ what, why }) => `${what}: ${why}`)].join('; ');
    return { isUsable: true, version: '', detail };
  }

  async ensure(request: WorkloadRequest, _signal?: AbortSignal): Promise<WorkloadState> {
    const { id, name, step, kubeconfig, limits, egress } = request;
    const known = await this.#note(id);
    const digest = kubeconfig && createHash('sha256').update(kubeconfig).digest('hex');
    // When a step begins, and not again while it lasts: what the student makes of it is theirs.
    const files: StepFile[] = known?.step === step.id ? [] : filesOf(step, known?.brought ?? []);
    const brought = [...new Set([...(known?.brought ?? []), ...files.map(({ path }) => path)])];
    const env = step.env ?? {};
    const isNew = digest !== undefined && digest !== known?.kubeconfig;
    // A workspace of an earlier version has a kubeconfig, but not where it leads.
    const servers = kubeconfig && (isNew || !known?.servers) ? serversOf(kubeconfig) : known?.servers;
    const delivered = digest ?? known?.kubeconfig;
    const note: Note = { name, step: step.id, env, limits, kubeconfig: delivered, servers, egress, brought };
    if (isNew) files.push({ path: '.kube/config', content: kubeconfig as string, mode: '0600' });
    this.#stopped.delete(id);
    if (known) for (const file of files) await this.#put(id, file);
    else await this.#furnish(id, [{ path: '.bashrc', content: BASHRC }, ...files]);
    this.#swept ??= this.#sweep();
    await this.#swept;
    if (JSON.stringify(known) !== JSON.stringify(note)) await this.#remember(id, note);
    await this.#sandboxes.allow(id, this.#destinations(note));
    const what = known ? files.map(({ path }) => `~/${path}`).join(', ') : 'the home folder';
    if (what) await this.#tell(id, `step ${step.id}: ${what} put in place`);
    const disk = await this.#limitDisk(id, known?.limits?.disk, limits?.disk);
    return {
      phase: 'ready',
      reason: 'Ready',
      message: [...(await this.#gaps(id, note)), disk].filter(Boolean).join('\n'),
    };
  }

  /** What was asked for, or is promised, and does not hold here. */
  async #gaps(id: string, { limits, servers = [], egress = [] }: Note): Promise<string[]> {
    const { gaps } = await this.#sandboxes.containment();
    const { why } = await this.#privileged.limit(id, numbersOf(limits));
    const isAllowed = ({ host, port }: Destination) => egress.some((each) => each.host === host && each.port === port);
    const closed = servers.filter((server) => this.#isForbidden(server) && !isAllowed(server));
    return [
      ...gaps.map((gap) => `${gap.what}: ${gap.why}`),
      ...(why ? Object.keys(numbersOf(limits)).map((name) => `resources.${name} is not enforced here: ${why}`) : []),
      ...closed.map(
        ({ host, port }) =>
          `the shell cannot reach ${host}:${port}: it is on this machine and not Rookery's API; network.egress of the template allows it`,
      ),
    ];
  }

  /** Once by each process of ours: what is left of homes that are gone has nobody else to remove it. */
  async #sweep(): Promise<void> {
    await this.#privileged.sweepLimits(new Set(await readdir(this.#options.folder).catch(() => [])));
  }

  /** Told each time, done when it changes, and once by each process of ours. */
  async #limitDisk(id: string, before: string | undefined, wanted: string | undefined): Promise<string> {
    const { folder } = this.#options;
    if (before !== wanted || (wanted && !this.#unlimited.has(id))) {
      const why = await this.#privileged.limitDisk(folder, id, wanted ? quantityValue(wanted) : 0);
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
    await this.#sandboxes.end(id);
  }

  async remove(ref: WorkspaceRef): Promise<Removal> {
    await this.suspend(ref);
    await this.#log.settled();
    const folder = this.#path(ref.id);
    const disk = (await this.#note(ref.id).catch(() => undefined))?.limits?.disk;
    if (disk) await this.#privileged.limitDisk(this.#options.folder, ref.id, 0);
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

  async #inside(id: string, command: string[], network: 'own' | 'none' = 'own'): Promise<SandboxCommand> {
    const note = await this.#note(id);
    if (!note) throw notRunning('has not been set up');
    this.#refuseStopped(id);
    const settings = {
      env: { WORKSPACE: note.name, ...note.env },
      limits: numbersOf(note.limits),
      destinations: this.#destinations(note),
    };
    const prepared = await this.#sandboxes.command(id, settings, command, network);
    if (this.#stopped.has(id)) await this.#sandboxes.end(id);
    return prepared;
  }

  /** A kubeconfig comes from a Secret, which others may have changed: it opens no other service of this machine. */
  #destinations({ servers = [], egress = [] }: Note): Destination[] {
    return [...servers.filter((server) => !this.#isForbidden(server)), ...egress];
  }

  #isForbidden({ host, port }: Destination): boolean {
    const own = this.#options.apiServer && serverOf(this.#options.apiServer);
    if (own && own.host === host && own.port === port) return false;
    return host === 'localhost' || hostGuard.refuses(host);
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
    await this.#privileged.giveFolder(home, id);
  }

  async #put(id: string, { path, content, mode = '0644' }: StepFile): Promise<void> {
    const { program, args } = await this.#inside(id, ['/bin/sh', '-c', PUT, 'put', path, mode], 'none');
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

function numbersOf({ cpu, memory }: NonNullable<WorkloadRequest['limits']> = {}): Limits {
  return {
    ...(cpu === undefined ? {} : { cpu: quantityValue(cpu) }),
    ...(memory === undefined ? {} : { memory: quantityValue(memory) }),
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

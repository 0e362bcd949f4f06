/**
 * Workspaces as containers of their step's image, on the network of their cluster. The shell is served by ttyd on a socket in a folder that only we can enter:
 * no port is open. What students write stays in the container until the step changes, also over suspend.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { BackgroundRun } from '../../tools/background-run.ts';
import { type Container, Docker } from '../../tools/docker.ts';
import type { Availability, Removal } from '../../tools/outcomes.ts';
import type { Processes } from '../../tools/processes.ts';
import { quantityValue } from '../quantity.ts';
import type {
  CommandResult,
  Terminal,
  TerminalSize,
  Workload,
  WorkloadRequest,
  WorkloadState,
  WorkspaceRef,
} from '../workload.ts';
import { ttydTerminal } from './ttyd.ts';

export interface DockerWorkloadOptions {
  processes: Processes;
  clock: Clock;
  /** A folder for each workspace is made here. */
  folder: string;
}

const WORKSPACE_LABEL = 'rookery.dev/workspace';
const NAME_LABEL = 'rookery.dev/workspace-name';
const STEP_LABEL = 'rookery.dev/step';
/** Used where a step names no image. */
const DEFAULT_IMAGE = 'rookery/workspace:latest';
const HOME = '/root';
const RUN = '/run/rookery';
const SOCKET = 'tty.sock';
const PIDS_MAX = 512;
const POLL_MS = 200;
const RETRY_MS = 30_000;
/** What a shell and a package manager need; nothing that reaches out of the container. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'NET_BIND_SERVICE'];

/** Says why what the container writes is not limited. */
const UNLIMITED = 'unlimited';

export class DockerWorkload implements Workload {
  readonly name = 'docker';
  readonly audience = 'internal';
  readonly #options: DockerWorkloadOptions;
  readonly #docker: Docker;

  constructor(options: DockerWorkloadOptions) {
    this.#options = options;
    this.#docker = new Docker(options.processes);
  }

  async probe(signal?: AbortSignal): Promise<Availability> {
    try {
      const version = await this.#docker.version(signal);
      return { isUsable: true, version, detail: `containers of Docker ${version}` };
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      return { isUsable: false, why: error.message, fix: error.hint ?? 'see `rookery doctor`' };
    }
  }

  async ensure(request: WorkloadRequest, signal?: AbortSignal): Promise<WorkloadState> {
    const found = await this.#containers(request.id, signal);
    const other = found.filter((each) => each.labels[STEP_LABEL] !== request.step.id || each.state === 'dead');
    // Another step is another image: what was in the old container stays behind, as the template says.
    if (other.length > 0) await this.#docker.remove(ids(other), signal);
    const [container] = found.filter((each) => !other.includes(each));
    if (!container) return await this.#make(request, signal);
    if (container.state !== 'running') {
      await rm(this.#path(request.id, 'run', SOCKET), { force: true });
      await this.#docker.start([container.id], signal);
      return working('Starting', 'the container is started');
    }
    await this.#deliver(request, container.id, signal);
    if (existsSync(this.#path(request.id, 'run', SOCKET))) {
      const why = await readFile(this.#path(request.id, UNLIMITED), 'utf8').catch(() => '');
      const gaps = [
        why && `resources.disk is not enforced here: ${why}`,
        request.egress && 'network.egress is not enforced here: containers reach what their Docker network reaches',
      ];
      return { phase: 'ready', reason: 'Ready', message: gaps.filter(Boolean).join('\n') };
    }
    return working('WaitingForTerminal', 'ttyd in the container has not opened its socket yet');
  }

  async suspend({ id }: WorkspaceRef, signal?: AbortSignal): Promise<void> {
    const running = (await this.#containers(id, signal)).filter(({ state }) => state === 'running');
    if (running.length > 0) await this.#docker.stop(ids(running), signal);
  }

  async remove({ id }: WorkspaceRef, signal?: AbortSignal): Promise<Removal> {
    const removed: string[] = [];
    // The folder comes before anything else and goes last. Asking Docker about each shell of a class would take longer than all the rest.
    if (!existsSync(this.#path(id)))
      return { isDone: true, removed, reason: 'NothingMade', message: 'nothing was made' };
    try {
      const containers = await this.#containers(id, signal);
      if (containers.length > 0) await this.#docker.remove(ids(containers), signal);
      removed.push(...containers.map(({ name }) => `container ${name}`));
      const network = await this.#docker.network(ownNetwork(id), signal);
      if (network && (await this.#docker.removeNetwork(network.id, signal))) removed.push(`network ${ownNetwork(id)}`);
    } catch (error) {
      if (!(error instanceof RookeryError) || !['docker.unreachable', 'tool.missing'].includes(error.code)) throw error;
      const next = `${error.hint ?? ''}; tried again every 10 s`;
      return { isDone: false, removed, reason: 'DockerUnreachable', message: error.message, next, lookAgainMs: 10_000 };
    }
    await this.#pull(id).stop();
    await rm(this.#path(id), { recursive: true, force: true });
    return { isDone: true, removed, reason: 'Removed', message: 'the container is gone' };
  }

  async inventory(signal?: AbortSignal): Promise<{ ref: WorkspaceRef; what: string }[]> {
    const containers = await this.#docker.containers(WORKSPACE_LABEL, signal);
    return containers.map(({ name, labels }) => ({
      ref: { id: labels[WORKSPACE_LABEL] as string, name: labels[NAME_LABEL] ?? name },
      what: `container ${name}`,
    }));
  }

  async terminal(ref: WorkspaceRef, size: TerminalSize): Promise<Terminal> {
    return await ttydTerminal(this.#path(ref.id, 'run', SOCKET), size);
  }

  async run(
    ref: WorkspaceRef,
    command: string,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<CommandResult> {
    // Docker leaves a command running whose client is gone: it has to end itself.
    const limit = ['timeout', '-s', 'KILL', String(Math.ceil(timeoutMs / 1000) + 1)];
    const args = ['exec', '--workdir', HOME, containerName(ref), ...limit, '/bin/sh', '-c', command];
    return await this.#options.processes.run('docker', args, { timeoutMs, signal });
  }

  async logs(ref: WorkspaceRef, since = '', signal?: AbortSignal): Promise<string[]> {
    const [container] = await this.#containers(ref.id, signal);
    if (!container) return [];
    const from = since ? ['--since', since] : ['--tail', '1000'];
    const { code, stdout, stderr } = await this.#try(['logs', '--timestamps', ...from, '--', container.id], signal);
    if (code !== 0) throw new RookeryError('docker.failed', `docker logs: ${stderr.trim()}`, { class: 'retryable' });
    const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.slice(0, line.indexOf(' ')) > since);
    return lines.filter((line) => line.includes(' ')).sort();
  }

  async #make(request: WorkloadRequest, signal?: AbortSignal): Promise<WorkloadState> {
    const image = request.step.image ?? DEFAULT_IMAGE;
    const missing = await this.#fetch(request, image, signal);
    if (missing) return missing;
    await mkdir(this.#path(request.id, 'run'), { recursive: true, mode: 0o700 });
    await rm(this.#path(request.id, 'run', SOCKET), { force: true });
    await rm(this.#path(request.id, 'delivered'), { force: true });
    const network = request.network ?? (await this.#ownNetwork(request.id, signal));
    let created = await this.#try(this.#createArguments(request, image, network), signal);
    await rm(this.#path(request.id, UNLIMITED), { force: true });
    // Only some file systems can count what a container writes; it is better to have one that is not counted than none.
    if (created.code !== 0 && /storage-opt/.test(created.stderr)) {
      await writeFile(this.#path(request.id, UNLIMITED), created.stderr.trim());
      const limits = { ...request.limits, disk: undefined };
      created = await this.#try(this.#createArguments({ ...request, limits }, image, network), signal);
    }
    if (created.code !== 0 && !/is already in use by container/i.test(created.stderr)) {
      return blocked('CreateFailed', created.stderr.trim());
    }
    await this.#putFiles(request, signal);
    const started = await this.#try(['start', containerName(request)], signal);
    if (started.code === 0) return working('Starting', `a container of ${image} is started`);
    await this.#try(['rm', '-f', '-v', containerName(request)], signal);
    const isWithoutTtyd = /ttyd.*(not found|no such file)/is.test(started.stderr);
    if (!isWithoutTtyd) return blocked('StartFailed', started.stderr.trim());
    const next = `build the image on ${DEFAULT_IMAGE}, or install ttyd in it`;
    return { phase: 'refused', reason: 'NoTtyd', message: `the image ${image} has no ttyd`, next };
  }

  #createArguments({ id, name, step, limits }: WorkloadRequest, image: string, network: string): string[] {
    const env = { KUBECONFIG: `${HOME}/.kube/config`, WORKSPACE: name, ...step.env };
    return [
      'create',
      ...['--name', containerName({ id, name }), '--hostname', name.slice(0, 63)],
      ...[
        '--label',
        `${WORKSPACE_LABEL}=${id}`,
        '--label',
        `${NAME_LABEL}=${name}`,
        '--label',
        `${STEP_LABEL}=${step.id}`,
      ],
      ...['--network', network, '--init', '--workdir', HOME, '--restart', 'unless-stopped'],
      ...['--security-opt', 'no-new-privileges', '--cap-drop', 'ALL'],
      ...CAPABILITIES.flatMap((each) => ['--cap-add', each]),
      ...['--pids-limit', String(PIDS_MAX), '--volume', `${this.#path(id, 'run')}:${RUN}`],
      ...(limits?.cpu ? ['--cpus', String(quantityValue(limits.cpu))] : []),
      ...(limits?.disk ? ['--storage-opt', `size=${Math.floor(quantityValue(limits.disk))}`] : []),
      ...(limits?.memory ? ['--memory', String(Math.floor(quantityValue(limits.memory)))] : []),
      ...Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
      '--',
      image,
      ...['ttyd', '--interface', `${RUN}/${SOCKET}`, '--writable', '/bin/bash'],
    ];
  }

  /** Undefined once the image is here. Fetching it takes minutes, so it goes on by itself. */
  async #fetch(request: WorkloadRequest, image: string, signal?: AbortSignal): Promise<WorkloadState | undefined> {
    if (await this.#docker.imageId(image, signal)) return undefined;
    const run = this.#pull(request.id);
    const state = await run.read();
    if (state.state === 'running') return working('Pulling', `the image ${image} is fetched`);
    const isFresh = state.endedAt !== undefined && this.#options.clock.now() - state.endedAt < RETRY_MS;
    if (state.state === 'ended' && isFresh) {
      const last = state.output.trim().split('\n').at(-1) ?? '';
      const next = `check its name, or load it: docker load; tried again every ${RETRY_MS / 1000} s`;
      return { ...blocked('ImageUnavailable', `the image ${image} cannot be fetched: ${last}`), next };
    }
    const config = this.#path(request.id, 'docker');
    await mkdir(config, { recursive: true, mode: 0o700 });
    await writeFile(join(config, 'config.json'), credentials(request.pullSecrets ?? []), { mode: 0o600 });
    const args = ['--config', config, 'pull', '--quiet', '--', image];
    await run.start({ program: 'docker', args, note: { image } });
    return working('Pulling', `the image ${image} is fetched`);
  }

  /** A kubeconfig that changed since goes into the running container. */
  async #deliver(request: WorkloadRequest, container: string, signal?: AbortSignal): Promise<void> {
    const delivered = await readFile(this.#path(request.id, 'delivered'), 'utf8').catch(() => undefined);
    if (delivered === (request.kubeconfig ?? '')) return;
    await this.#putFiles({ ...request, step: { id: request.step.id } }, signal, container);
  }

  async #putFiles(request: WorkloadRequest, signal?: AbortSignal, container = containerName(request)): Promise<void> {
    const { id, kubeconfig, step } = request;
    const folder = this.#path(id, 'home');
    await rm(folder, { recursive: true, force: true });
    const files = [
      ...(step.earlierFiles ?? []),
      ...(step.files ?? []),
      ...(kubeconfig === undefined ? [] : [{ path: '.kube/config', content: kubeconfig, mode: '0600' }]),
    ];
    for (const { path, content, mode = '0644' } of files) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true, mode: 0o755 });
      await writeFile(file, content);
      await chmod(file, Number.parseInt(mode, 8));
    }
    for (const entry of await readdir(folder).catch(() => [] as string[])) {
      const { code, stderr } = await this.#try(['cp', join(folder, entry), `${container}:${HOME}/`], signal);
      if (code !== 0) throw new RookeryError('docker.failed', `docker cp: ${stderr.trim()}`, { class: 'retryable' });
    }
    await rm(folder, { recursive: true, force: true });
    await writeFile(this.#path(id, 'delivered'), kubeconfig ?? '', { mode: 0o600 });
  }

  /** Without a cluster it has a network of its own, so that workspaces do not meet on the common one. */
  async #ownNetwork(id: string, signal?: AbortSignal): Promise<string> {
    const name = ownNetwork(id);
    if (await this.#docker.network(name, signal)) return name;
    const { code, stderr } = await this.#try(
      ['network', 'create', '--label', `${WORKSPACE_LABEL}=${id}`, name],
      signal,
    );
    if (code !== 0)
      throw new RookeryError('docker.failed', `docker network create: ${stderr.trim()}`, { class: 'retryable' });
    return name;
  }

  #containers(id: string, signal?: AbortSignal): Promise<Container[]> {
    return this.#docker.containers(`${WORKSPACE_LABEL}=${id}`, signal);
  }

  #try(args: string[], signal?: AbortSignal) {
    return this.#options.processes.run('docker', args, { signal });
  }

  #pull(id: string): BackgroundRun {
    return new BackgroundRun(this.#path(id, 'pull'), this.#options.processes, this.#options.clock);
  }

  #path(id: string, ...names: string[]): string {
    return join(this.#options.folder, id, ...names);
  }
}

function containerName({ id }: WorkspaceRef): string {
  return `rookery-ws-${id}`;
}

function ownNetwork(id: string): string {
  return `rookery-ws-${id}`;
}

function ids(containers: Container[]): string[] {
  return containers.map(({ id }) => id);
}

function working(reason: string, message: string): WorkloadState {
  return { phase: 'working', reason, message, lookAgainMs: POLL_MS };
}

function blocked(reason: string, message: string): WorkloadState {
  return { phase: 'blocked', reason, message, next: 'tried again every 15 s', lookAgainMs: 15_000 };
}

/** Several `.dockerconfigjson` as one; later ones win. */
function credentials(texts: readonly string[]): string {
  const auths: Record<string, unknown> = {};
  for (const text of texts) {
    try {
      Object.assign(auths, (JSON.parse(text) as { auths?: Record<string, unknown> }).auths);
    } catch {
      throw new RookeryError('workspace.pull-secret', 'a pull secret is no .dockerconfigjson', { class: 'user' });
    }
  }
  return JSON.stringify({ auths });
}

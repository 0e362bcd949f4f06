/**
 * kind behind the contract of provisioners. kind makes clusters and hands out kubeconfigs; everything else is asked of Docker, by the ids of
 * the containers that carry our mark: kind has no list in JSON, no stop and start, and deletes whatever has the name. Each cluster has a
 * folder of its own: configuration, run, kubeconfig, mark.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { BackgroundRun, type RunState } from '../../tools/background-run.ts';
import { chooseImage, provisionerEntry } from '../../tools/catalog.ts';
import { type Container, Docker } from '../../tools/docker.ts';
import { type FoundTool, findTool } from '../../tools/find-tool.ts';
import type { Processes } from '../../tools/processes.ts';
import { findVersion, versionText } from '../../tools/versions.ts';
import { type HealthProbe, probeHealth } from '../cluster-health.ts';
import type {
  Availability,
  ClusterRef,
  ClusterRequest,
  FoundThing,
  Observation,
  Progress,
  Provisioner,
  Removal,
  Resolution,
} from '../provisioner.ts';
import { containerNames, fingerprint, type KindSpec, kindConfig, type Shape, shapeOf } from './config.ts';
import { lastLines, meaningOf, stepOf } from './output.ts';
import { type Belongings, divide, CLUSTER_LABEL as LABEL, markPath, ownerOf, roleOf } from './ownership.ts';
import { SharedNetwork } from './shared-network.ts';

export interface KindProvisionerOptions {
  processes: Processes;
  clock: Clock;
  /** Where it keeps a folder for each cluster. */
  folder: string;
  probe?: HealthProbe;
  /** Nothing may be fetched. */
  offline?: boolean;
  /** How soon to look again while something is under way; how long to wait after the first failure. */
  pollMs?: number;
  retryMs?: number;
}

const TOOL_AGE_MS = 60_000;
const RECHECK_MS = 15_000;
const RETRY_MAX_MS = 300_000;
/** A run that was killed is repeated at once, but not for ever. */
const LOSSES_AT_ONCE = 5;
/** The engine finishes a container for a killed client; how soon to look again. */
const STRAGGLER_MS = 300;

export class KindProvisioner implements Provisioner<KindSpec> {
  readonly name = 'kind';
  readonly fidelity = 'container';
  readonly upgrades = 'recreate';
  readonly scales = 'recreate';
  readonly #options: Required<Omit<KindProvisionerOptions, 'offline'>> & { offline: boolean };
  readonly #docker: Docker;
  readonly #network: SharedNetwork;
  readonly #running = new Set<string>();
  #tool: { found: FoundTool; at: number } | undefined;

  constructor(options: KindProvisionerOptions) {
    const offline = Boolean(options.processes.env.ROOKERY_OFFLINE);
    this.#options = { probe: probeHealth, offline, pollMs: 500, retryMs: 10_000, ...options };
    this.#docker = new Docker(options.processes);
    this.#network = new SharedNetwork(this.#docker, join(options.folder, 'network.json'));
  }

  async probe(signal?: AbortSignal): Promise<Availability> {
    const search = await findTool('kind', this.#options.processes, signal);
    if (!search.tool) return { isUsable: false, why: search.why, fix: search.fix };
    try {
      const engine = await this.#docker.version(signal);
      const kind = versionText(search.tool.version);
      return { isUsable: true, version: kind, detail: `kind ${kind} (${search.tool.path}), Docker ${engine}` };
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      return { isUsable: false, why: error.message, fix: error.hint ?? 'see `rookery doctor`' };
    }
  }

  async resolve({ spec }: ClusterRef<KindSpec>, signal?: AbortSignal): Promise<Resolution> {
    if (spec.image) {
      const version = findVersion(spec.image.split('@')[0] ?? '');
      return { image: spec.image, ...(version ? { version: versionText(version) } : {}) };
    }
    const { version: tool } = await this.#kind(signal);
    const local = await this.#docker.images(provisionerEntry('kind').repository, signal);
    const { offline } = this.#options;
    const { version, image } = chooseImage('kind', { wanted: spec.kubernetesVersion, tool, local, offline });
    return { version, image };
  }

  ensure(request: ClusterRequest<KindSpec>, signal?: AbortSignal): Promise<Progress> {
    return answered(async () => {
      const run = this.#run(request.id);
      const state = await run.read();
      if (state.state === 'running') {
        // Docker is not asked: kind needs the processor, and refuses a name that is taken by itself.
        this.#running.add(request.id);
        return await this.#whileRunning(run, state, shapeOf(request.spec));
      }
      this.#running.delete(request.id);
      const { ours, others } = await this.#find(request, state, signal);
      if (others.length > 0) return refused(request, others);
      if (state.state === 'lost' && state.attempt >= LOSSES_AT_ONCE && !request.initialized) {
        return await this.#afterFailure(request, { ...state, endedAt: state.startedAt }, ours, signal);
      }
      if (state.state === 'ended' && state.code !== 0) return await this.#afterFailure(request, state, ours, signal);
      const isWhole = state.state === 'ended' || (state.state === 'none' && request.initialized);
      if (isWhole && ours.length > 0) return await this.#settle(request, state, ours, signal);
      // Nothing there yet, half made by a run that was killed, or removed behind our back: made from the start.
      return await this.#create(request, ours, signal);
    });
  }

  async observe(ref: ClusterRef<KindSpec>, signal?: AbortSignal): Promise<Observation> {
    const state = await this.#run(ref.id).read();
    const { ours, others } = await this.#find(ref, state, signal);
    if (others.length > 0) return { phase: 'foreign', nodes: [], missing: [foreignText(ref, others)] };
    if (state.state === 'running')
      return { phase: 'creating', nodes: [], missing: [stepOf(state.output) ?? 'kind runs'] };
    if (ours.length === 0) return { phase: 'absent', nodes: [], missing: ['there are no containers'] };
    return await this.#look(ref, shapeFrom(state.note), ours, signal);
  }

  async kubeconfig(
    ref: ClusterRef<KindSpec>,
    audience: 'external' | 'internal',
    signal?: AbortSignal,
  ): Promise<string> {
    if (audience === 'external') {
      const known = await readFile(this.#path(ref.id, 'kubeconfig'), 'utf8').catch(absent);
      if (known?.includes('client-key-data')) return known;
    }
    const { path } = await this.#kind(signal);
    const args = ['get', 'kubeconfig', '--name', ref.name, ...(audience === 'internal' ? ['--internal'] : [])];
    const { code, stdout, stderr } = await this.#options.processes.run(path, args, { env: kindEnv(), signal });
    if (code === 0) return stdout;
    throw new RookeryError('kind.kubeconfig', `kind gave no kubeconfig: ${stderr.trim()}`, { class: 'retryable' });
  }

  suspend(ref: ClusterRef<KindSpec>, signal?: AbortSignal): Promise<Progress> {
    return answered(async () => {
      const state = await this.#run(ref.id).read();
      const { ours } = await this.#find(ref, state, signal);
      const running = ours.filter((container) => container.state === 'running').map(({ id }) => id);
      if (running.length > 0) await this.#docker.stop(running, signal);
      const message = `${ours.length} containers are stopped; their disks are kept`;
      return { phase: 'suspended', reason: 'Suspended', message, next: 'resume starts them again' };
    });
  }

  resume(request: ClusterRequest<KindSpec>, signal?: AbortSignal): Promise<Progress> {
    return this.ensure(request, signal);
  }

  /** kind cannot change a cluster that exists. */
  async upgrade(request: ClusterRequest<KindSpec>, _signal?: AbortSignal): Promise<Progress> {
    const message = `kind cannot upgrade ${request.name} in place`;
    const next = 'make a second cluster with the new version, move the workloads, delete this one';
    return { phase: 'refused', reason: 'RecreateRequired', message, next };
  }

  async remove(ref: ClusterRef<KindSpec>, signal?: AbortSignal): Promise<Removal> {
    const run = this.#run(ref.id);
    const state = await run.read();
    if (state.state === 'running') {
      const isStopped = await run.stop();
      return {
        isDone: false,
        removed: isStopped ? ['the run of kind that was under way'] : [],
        reason: 'StoppingCreation',
        message: 'kind was stopped in the middle of its work',
        next: 'what it made is removed now',
        lookAgainMs: 50,
      };
    }
    try {
      return await this.#sweep(ref, state, signal);
    } catch (error) {
      if (!(error instanceof RookeryError) || !['docker.unreachable', 'tool.missing'].includes(error.code)) throw error;
      if (state.state === 'none') {
        return {
          isDone: true,
          removed: [],
          reason: 'NothingMade',
          message: 'nothing was made, so nothing was removed',
        };
      }
      const next = `${error.hint ?? ''}; tried again every 10 s`;
      return {
        isDone: false,
        removed: [],
        reason: 'DockerUnreachable',
        message: error.message,
        next,
        lookAgainMs: 10_000,
      };
    }
  }

  async inventory(_known: readonly ClusterRef<KindSpec>[], signal?: AbortSignal): Promise<FoundThing<KindSpec>[]> {
    const containers = await this.#docker.containers(LABEL, signal);
    const owners = new Map(containers.map((container) => [container.labels[LABEL], ownerOf(container)] as const));
    return containers.flatMap((container) => {
      const name = container.labels[LABEL] ?? '';
      const id = ownerOf(container) ?? owners.get(name);
      return id ? [{ ref: { id, name, spec: { clusterName: name } }, what: `container ${container.name}` }] : [];
    });
  }

  async #create(request: ClusterRequest<KindSpec>, leftover: Container[], signal?: AbortSignal): Promise<Progress> {
    const { id, name, spec, resolved } = request;
    const { path } = await this.#kind(signal);
    if (leftover.length > 0)
      await this.#docker.remove(
        leftover.map((container) => container.id),
        signal,
      );
    await this.#network.beforeCreate(signal);
    const mark = { hostPath: this.#path(id, 'owner'), containerPath: markPath(id) };
    await mkdir(mark.hostPath, { recursive: true, mode: 0o700 });
    for (const file of ['kubeconfig', 'kubeconfig.lock']) await rm(this.#path(id, file), { force: true });
    const config = this.#path(id, 'kind.json');
    await writeFile(config, kindConfig(spec, { name, image: resolved.image, mark }), { mode: 0o600 });
    const args = [
      'create',
      'cluster',
      '--name',
      name,
      '--config',
      config,
      '--kubeconfig',
      this.#path(id, 'kubeconfig'),
    ];
    // The flag overrules the images of single nodes, so it is left out where there are some.
    if (!spec.nodes?.some((node) => node.image)) args.push('--image', resolved.image);
    const note = { ...shapeOf(spec), image: resolved.image, fingerprint: fingerprint(spec) };
    await this.#run(id).start({ program: path, args, env: kindEnv(), note });
    this.#running.add(id);
    return {
      phase: 'working',
      reason: 'Creating',
      message: `kind is making ${note.containers} containers from ${resolved.image}`,
      since: this.#options.clock.now(),
      usualMs: usualMs(note),
      next: 'the cluster is asked itself whether it is ready, once kind is done',
      lookAgainMs: this.#options.pollMs,
    };
  }

  async #whileRunning(run: BackgroundRun, state: RunState, shape: Shape): Promise<Progress> {
    const limit = 600_000 + 180_000 * shape.nodes;
    if (this.#options.clock.now() - state.startedAt > limit) await run.stop(124);
    return {
      phase: 'working',
      reason: 'Creating',
      message: `kind is making the cluster: ${stepOf(state.output) ?? 'starting'}`,
      step: stepOf(state.output),
      since: state.startedAt,
      usualMs: usualMs(shape),
      output: lastLines(state.output, 3),
      next: `kind is stopped and started again after ${Math.round(limit / 60_000)} min`,
      lookAgainMs: this.#options.pollMs,
    };
  }

  async #afterFailure(
    request: ClusterRequest<KindSpec>,
    state: RunState,
    leftover: Container[],
    signal?: AbortSignal,
  ): Promise<Progress> {
    const { clock, retryMs } = this.#options;
    if (leftover.length > 0)
      await this.#docker.remove(
        leftover.map(({ id }) => id),
        signal,
      );
    const wait = Math.min(RETRY_MAX_MS, retryMs * 3 ** (state.attempt - 1));
    const left = (state.endedAt ?? 0) + wait - clock.now();
    if (left <= 0) return await this.#create(request, [], signal);
    const { reason, means, help } = meaningOf(state.output);
    return {
      phase: 'blocked',
      reason,
      message: `${means} (kind ${state.code === undefined ? 'was killed' : `ended with ${state.code}`}, attempt ${state.attempt})`,
      since: state.endedAt,
      output: lastLines(state.output),
      next: `${help}; tried again ${Math.round(wait / 1000)} s after the failure`,
      lookAgainMs: left,
    };
  }

  /** kind has done its part: are all containers up, and is the cluster usable? */
  async #settle(
    request: ClusterRequest<KindSpec>,
    state: RunState,
    containers: Container[],
    signal?: AbortSignal,
  ): Promise<Progress> {
    const { pollMs } = this.#options;
    await this.#network.afterCreate(signal);
    const stopped = containers.filter((container) => container.state !== 'running');
    if (stopped.length > 0) {
      const names = stopped.map(({ name }) => name).join(', ');
      await this.#docker.start(
        stopped.map(({ id }) => id),
        signal,
      );
      const message = `stopped containers were started again: ${names}`;
      return { phase: 'working', reason: 'Starting', message, step: `Starting ${names}`, lookAgainMs: pollMs };
    }
    const shape = shapeOf(request.spec);
    // What was built counts, not what is asked for since: kind cannot add nodes.
    const built = 'nodes' in state.note ? shapeFrom(state.note) : shape;
    const cluster = await this.#look(request, built, containers, signal);
    cluster.image = String(state.note.image ?? request.resolved.image);
    if (state.note.fingerprint && state.note.fingerprint !== fingerprint(request.spec)) {
      cluster.outdated = 'the spec has changed since the cluster was made, and kind cannot change it in place';
    }
    if (cluster.phase === 'ready') {
      return { phase: 'ready', reason: 'Ready', message: '', cluster, lookAgainMs: RECHECK_MS };
    }
    const isLost = containers.length < built.containers;
    return {
      phase: request.initialized ? 'blocked' : 'working',
      reason: isLost ? 'NodeLost' : request.initialized ? 'Degraded' : 'WaitingForReady',
      message: cluster.missing.join('; '),
      since: state.endedAt,
      usualMs: 15_000,
      next: isLost
        ? 'kind cannot add nodes: delete the cluster and make it again'
        : 'asked again until the cluster says it is ready',
      lookAgainMs: request.initialized ? pollMs * 4 : pollMs,
      cluster,
    };
  }

  async #look(
    ref: ClusterRef<KindSpec>,
    shape: Shape,
    containers: Container[],
    signal?: AbortSignal,
  ): Promise<Observation> {
    const nodes = containers
      .filter((container) => roleOf(container) !== 'external-load-balancer')
      .map((container) => ({ name: container.name, role: roleOf(container), ready: false }));
    const running = containers.filter((container) => container.state === 'running');
    if (running.length === 0) return { phase: 'suspended', nodes, missing: ['all containers are stopped'] };
    const missing: string[] = [];
    const gone = shape.containers - containers.length;
    if (gone > 0) missing.push(`${gone} of ${shape.containers} containers are gone`);
    for (const { name, state } of containers) if (state !== 'running') missing.push(`container ${name} is ${state}`);
    try {
      const kubeconfig = await this.kubeconfig(ref, 'external', signal);
      const health = await this.#options.probe(kubeconfig, shape, signal);
      missing.push(...health.missing);
      for (const node of nodes) node.ready = health.nodes.some(({ name, ready }) => name === node.name && ready);
      const endpoint = endpointOf(kubeconfig);
      return { phase: missing.length === 0 ? 'ready' : 'degraded', nodes, version: health.version, missing, endpoint };
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      return { phase: 'starting', nodes, missing: [...missing, error.message] };
    }
  }

  async #sweep(ref: ClusterRef<KindSpec>, state: RunState, signal?: AbortSignal): Promise<Removal> {
    const { ours, others } = await this.#find(ref, state, signal);
    const removed = ours.map((container) => `container ${container.name}`);
    if (ours.length > 0)
      await this.#docker.remove(
        ours.map(({ id }) => id),
        signal,
      );
    // Of a kind that ended by itself nothing can come any more.
    const isStraggling = ours.length === 0 && state.state === 'lost' && (await this.#isMaking(ref, state, signal));
    const isAgain = isStraggling || (ours.length === 0 && (await this.#find(ref, state, signal)).ours.length > 0);
    if (ours.length > 0 || isAgain) {
      const message = isAgain
        ? 'Docker is still making a container for the kind that was killed'
        : `${ours.length} containers removed`;
      const lookAgainMs = isStraggling ? STRAGGLER_MS : 50;
      return { isDone: false, removed, reason: 'Removing', message, next: 'looked for again', lookAgainMs };
    }
    this.#running.delete(ref.id);
    if (this.#running.size === 0) removed.push(...(await this.#network.remove(signal)));
    await this.#run(ref.id).clear();
    await rm(this.#path(ref.id), { recursive: true, force: true });
    const left = others.length > 0 ? `; ${foreignText(ref, others)}: left alone` : '';
    const message = `Docker lists no container of ${ref.name} with our mark${left}`;
    return { isDone: true, removed, reason: 'Removed', message };
  }

  async #isMaking(ref: ClusterRef<KindSpec>, state: RunState, signal?: AbortSignal): Promise<boolean> {
    const mark = `${this.#path(ref.id, 'owner')}:${markPath(ref.id)}:ro`;
    // A crash right here leaves a container that the next sweep knows as ours.
    const like = { args: ['--label', `${LABEL}=${ref.name}`, '--volume', mark], image: String(state.note.image) };
    for (const name of containerNames(ref.name, shapeFrom(state.note))) {
      if (await this.#docker.isMaking(name, like, signal)) return true;
    }
    return false;
  }

  async #find(ref: ClusterRef<KindSpec>, state: RunState, signal?: AbortSignal): Promise<Belongings> {
    const containers = await this.#docker.containers(`${LABEL}=${ref.name}`, signal);
    return divide(containers, ref.id, state.state === 'none' ? undefined : state.startedAt);
  }

  async #kind(signal?: AbortSignal): Promise<FoundTool> {
    const now = this.#options.clock.now();
    if (this.#tool && now - this.#tool.at < TOOL_AGE_MS) return this.#tool.found;
    const { tool, ...search } = await findTool('kind', this.#options.processes, signal);
    if (!tool) {
      const { why, fix } = search as { why: string; fix: string };
      throw new RookeryError('tool.missing', why, { class: 'retryable', hint: `install it: ${fix}` });
    }
    this.#tool = { found: tool, at: now };
    return tool;
  }

  #run(id: string): BackgroundRun {
    return new BackgroundRun(this.#path(id, 'run'), this.#options.processes, this.#options.clock);
  }

  #path(id: string, ...names: string[]): string {
    return join(this.#options.folder, id, ...names);
  }
}

/** Trouble with the engine or the tool is an answer: what it is, what helps, when it is tried again. */
async function answered(work: () => Promise<Progress>): Promise<Progress> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    const reason = REASONS[error.code] ?? 'EngineFailed';
    const next = `${error.hint ? `${error.hint}; ` : ''}tried again every 10 s`;
    return { phase: 'blocked', reason, message: error.message, next, lookAgainMs: 10_000 };
  }
}

const REASONS: Record<string, string> = {
  'docker.unreachable': 'DockerUnreachable',
  'tool.missing': 'ToolMissing',
  'tool.timeout': 'EngineSlow',
};

function refused(ref: ClusterRef<KindSpec>, others: Container[]): Progress {
  return {
    phase: 'refused',
    reason: 'NameTaken',
    message: foreignText(ref, others),
    next: `choose another clusterName, or remove that cluster: kind delete cluster --name ${ref.name}`,
    lookAgainMs: RECHECK_MS,
  };
}

function foreignText(ref: ClusterRef<KindSpec>, others: Container[]): string {
  const owner = others.map(ownerOf).find(Boolean);
  const whose = owner ? `another object of Rookery (uid ${owner})` : 'somebody else';
  return `a kind cluster called ${ref.name} belongs to ${whose}: ${others.map(({ name }) => name).join(', ')}`;
}

/** kind takes more than flags from its environment; and it must never touch the user's own kubeconfig. */
function kindEnv(): Record<string, string> {
  return { KIND_EXPERIMENTAL_PROVIDER: 'docker', KIND_CLUSTER_NAME: '', KUBECONFIG: '/dev/null' };
}

function shapeFrom(note: Record<string, unknown>): Shape {
  const { nodes = 1, controlPlanes = 1, containers = 1, hasNetwork = true } = note as Partial<Shape>;
  return { nodes, controlPlanes, containers, hasNetwork };
}

/** Measured on two cores: 25 s for one node, more for each that joins. */
function usualMs(shape: Shape): number {
  return 25_000 + 12_000 * (shape.nodes - shape.controlPlanes) + 35_000 * (shape.controlPlanes - 1);
}

function endpointOf(kubeconfig: string): { host: string; port: number } | undefined {
  const server = /^\s*server:\s*(\S+)/m.exec(kubeconfig)?.[1];
  if (!server) return undefined;
  const { hostname, port } = new URL(server);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

/**
 * A tool that makes clusters of containers, behind the contract of provisioners. What tools share is here: one run of the tool in the
 * background makes the cluster, containers are found by label and told apart by our mark, the cluster itself says whether it is
 * ready, and removal goes by the ids of containers and looks again until nothing is left. What is special to a tool is in its `ClusterTool`
 * (words) and in the methods that it overrides (deeds).
 */
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { BackgroundRun, RunRequest, RunState } from '../../tools/background-run.ts';
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
import { answered, failedRun, transcriptOf } from './answers.ts';
import { ClusterFiles } from './cluster-files.ts';
import { type Belongings, type ClusterShape, type ClusterTool, shapeFrom } from './cluster-tool.ts';
import { inventory } from './inventory.ts';
import { look } from './look.ts';
import { RememberedTool } from './remembered-tool.ts';
import { lastLines } from './tool-output.ts';

export interface ContainerProvisionerOptions {
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

/** What was removed beside containers, and what could not be yet. */
export type Rest = { removed: string[]; left?: string };

interface BaseSpec {
  clusterName: string;
  image?: string;
  kubernetesVersion?: string;
}

/** While a cluster comes up, each question to Docker takes the processor from what shall become ready. */
const CONTAINERS_AGE_MS = 5000;
export const RECHECK_MS = 15_000;
/** A run that was killed is repeated at once, but not for ever. */
const LOSSES_AT_ONCE = 5;
/** The engine finishes what a killed client asked for; how soon to look again. */
const STRAGGLER_MS = 300;

export abstract class ContainerProvisioner<Spec extends BaseSpec> implements Provisioner<Spec> {
  readonly name: string;
  readonly fidelity = 'container';
  readonly upgrades = 'recreate';
  abstract readonly scales: 'in place' | 'recreate';
  protected readonly tool: ClusterTool<Spec>;
  protected readonly options: Required<Omit<ContainerProvisionerOptions, 'folder'>>;
  protected readonly docker: Docker;
  protected readonly files: ClusterFiles;
  /** Owners whose cluster is being made, as far as this process knows. */
  protected readonly creating = new Set<string>();
  /** Containers of clusters that wait for their own word alone, and when Docker was asked for them. */
  readonly #waiting = new Map<string, { containers: Container[]; at: number }>();
  readonly #program: RememberedTool;

  constructor(tool: ClusterTool<Spec>, { folder, ...options }: ContainerProvisionerOptions) {
    const offline = Boolean(options.processes.env.ROOKERY_OFFLINE);
    this.name = tool.name;
    this.tool = tool;
    this.options = { probe: probeHealth, offline, pollMs: 200, retryMs: 10_000, ...options };
    this.docker = new Docker(options.processes);
    this.#program = new RememberedTool(tool.name, options);
    this.files = new ClusterFiles(folder, options.processes, options.clock);
  }

  /** Arguments and environment of the run that makes the cluster. */
  protected abstract createRun(request: ClusterRequest<Spec>): Promise<Pick<RunRequest, 'args' | 'env'>>;
  /** Asks the tool for the one that is for use from this machine. */
  protected abstract fetchKubeconfig(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<string>;
  /** What keeps `docker create` from making a container that nobody would know as ours. */
  protected abstract marksOf(ref: ClusterRef<Spec>): string[];
  abstract suspend(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Progress>;
  /** Puts right what can be put right without a new cluster; an answer means that it is at it, or cannot. */
  protected abstract mend(
    request: ClusterRequest<Spec>,
    containers: Container[],
    shape: ClusterShape,
    signal?: AbortSignal,
  ): Promise<Progress | undefined>;

  /** Work on a cluster that exists and goes on now. Asked before Docker is: what Docker lists while the tool works is old when the tool is done. */
  protected async underWay(_request: ClusterRequest<Spec>): Promise<Progress | undefined> {
    return undefined;
  }

  /** Right before the tool runs; an answer means that it may not. */
  protected async beforeCreate(_request: ClusterRequest<Spec>, _signal?: AbortSignal): Promise<Progress | undefined> {
    return undefined;
  }

  /** Everything but containers. */
  protected async removeRest(_ref: ClusterRef<Spec>, _signal?: AbortSignal): Promise<Rest> {
    return { removed: [] };
  }

  /** Before containers of ours are removed for good: the last moment they can be asked what belongs to them. */
  protected async beforeRemoval(_ref: ClusterRef<Spec>, _ours: Container[]): Promise<void> {}

  /** After a look that found the cluster not ready. */
  protected async tidy(
    _request: ClusterRequest<Spec>,
    _containers: Container[],
    _signal?: AbortSignal,
  ): Promise<void> {}

  /** The run of the tool that ended last, for the journal. */
  protected async lastRun(
    request: ClusterRequest<Spec>,
    creation: RunState,
  ): Promise<{ state: RunState; title: string }> {
    return { state: creation, title: `${this.name}: make ${request.name}` };
  }

  /** The run that makes the cluster comes first. */
  protected runs(id: string): BackgroundRun[] {
    return [this.files.run(id)];
  }

  /** What the cluster should have, given what it was made with. */
  protected expected(_request: ClusterRef<Spec>, built: ClusterShape): ClusterShape {
    return built;
  }

  async probe(signal?: AbortSignal): Promise<Availability> {
    const { name } = this.tool;
    const search = await findTool(name, this.options.processes, signal);
    if (!search.tool) return { isUsable: false, why: search.why, fix: search.fix };
    try {
      const engine = await this.docker.version(signal);
      const version = versionText(search.tool.version);
      return { isUsable: true, version, detail: `${name} ${version} (${search.tool.path}), Docker ${engine}` };
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      return { isUsable: false, why: error.message, fix: error.hint ?? 'see `rookery doctor`' };
    }
  }

  async resolve({ spec }: ClusterRef<Spec>, signal?: AbortSignal): Promise<Resolution> {
    if (spec.image) {
      const version = findVersion(spec.image.split('@')[0] ?? '');
      return { image: spec.image, ...(version ? { version: versionText(version) } : {}) };
    }
    const { version: tool } = await this.program(signal);
    const local = await this.docker.images(provisionerEntry(this.name).repository, signal);
    const { offline } = this.options;
    const { version, image } = chooseImage(this.name, { wanted: spec.kubernetesVersion, tool, local, offline });
    return { version, image };
  }

  ensure(request: ClusterRequest<Spec>, signal?: AbortSignal): Promise<Progress> {
    return answered(async () => {
      const run = this.files.run(request.id);
      const state = await run.read();
      if (state.state === 'running') {
        // Docker is not asked: the tool needs the processor, and refuses a name that is taken by itself.
        this.creating.add(request.id);
        return await this.#whileRunning(run, state, this.tool.shapeOf(request.spec));
      }
      this.creating.delete(request.id);
      const progress = await this.#next(request, state, signal);
      const told = await this.lastRun(request, state);
      return { ...transcriptOf(told.state, told.title), ...progress };
    });
  }

  async observe(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Observation> {
    const state = await this.files.run(ref.id).read();
    const { ours, others } = await this.#find(ref, state, signal);
    if (others.length > 0) return { phase: 'foreign', nodes: [], missing: [this.#foreignText(ref, others)] };
    if (state.state === 'running') {
      return { phase: 'creating', nodes: [], missing: [this.tool.stepOf(state.output) ?? `${this.name} runs`] };
    }
    if (ours.length === 0) return { phase: 'absent', nodes: [], missing: ['there are no containers'] };
    return await this.#look(ref, this.#expected(ref, state), ours, signal);
  }

  async kubeconfig(ref: ClusterRef<Spec>, audience: 'external' | 'internal', signal?: AbortSignal): Promise<string> {
    const external = (await this.files.kubeconfig(ref.id)) ?? (await this.fetchKubeconfig(ref, signal));
    if (audience === 'external') return external;
    return external.replace(/(\bserver: )\S+/, `$1${this.tool.internalServer(ref.name, ref.spec)}`);
  }

  resume(request: ClusterRequest<Spec>, signal?: AbortSignal): Promise<Progress> {
    return this.ensure(request, signal);
  }

  async upgrade(request: ClusterRequest<Spec>, _signal?: AbortSignal): Promise<Progress> {
    const message = `${this.name} cannot upgrade ${request.name} in place`;
    const next = 'make a second cluster with the new version, move the workloads, delete this one';
    return { phase: 'refused', reason: 'RecreateRequired', message, next };
  }

  async remove(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Removal> {
    this.#waiting.delete(ref.id);
    const runs = this.runs(ref.id);
    const states = await Promise.all(runs.map((run) => run.read()));
    if (states.some(({ state }) => state === 'running')) {
      const stopped = await Promise.all(runs.map((run) => run.stop()));
      return {
        isDone: false,
        removed: stopped.includes(true) ? [`the run of ${this.name} that was under way`] : [],
        reason: 'StoppingCreation',
        message: `${this.name} was stopped in the middle of its work`,
        next: 'what it made is removed now',
        lookAgainMs: 50,
      };
    }
    try {
      return await this.#sweep(ref, states, signal);
    } catch (error) {
      if (!(error instanceof RookeryError) || !['docker.unreachable', 'tool.missing'].includes(error.code)) throw error;
      if (states.every(({ state }) => state === 'none')) {
        const message = 'nothing was made, so nothing was removed';
        return { isDone: true, removed: [], reason: 'NothingMade', message };
      }
      const next = `${error.hint ?? ''}; tried again every 10 s`;
      const { message } = error;
      return { isDone: false, removed: [], reason: 'DockerUnreachable', message, next, lookAgainMs: 10_000 };
    }
  }

  inventory(_known: readonly ClusterRef<Spec>[], signal?: AbortSignal): Promise<FoundThing<Spec>[]> {
    return inventory(this.docker, this.tool, signal);
  }

  protected program(signal?: AbortSignal): Promise<FoundTool> {
    return this.#program.find(signal);
  }

  /** The containers of a cluster that are ours. */
  protected async containersOf(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Container[]> {
    return (await this.#find(ref, await this.files.run(ref.id).read(), signal)).ours;
  }

  /** What a failed run means, and when it is tried again; undefined when it is time. */
  protected failed(state: RunState, what: string): Progress | undefined {
    const { retryMs, clock } = this.options;
    return failedRun(state, { what, retryMs, now: clock.now(), meaning: this.tool.meaningOf(state.output) });
  }

  protected refused(ref: ClusterRef<Spec>, message: string): Progress {
    return {
      phase: 'refused',
      reason: 'NameTaken',
      message,
      next: `choose another clusterName, or remove that cluster: ${this.tool.deleteCommand(ref.name)}`,
      lookAgainMs: RECHECK_MS,
    };
  }

  async #next(request: ClusterRequest<Spec>, state: RunState, signal?: AbortSignal): Promise<Progress> {
    const working = await this.underWay(request);
    if (working) return working;
    const waiting = this.#waiting.get(request.id);
    if (waiting && this.options.clock.now() - waiting.at < CONTAINERS_AGE_MS) {
      return await this.#judge(request, state, waiting.containers, signal);
    }
    this.#waiting.delete(request.id);
    // Needed next where nothing was made yet, and found while Docker is asked. Whoever needs it hears of what is wrong with it.
    if (state.state === 'none' && !request.initialized) this.program(signal).catch(() => {});
    const { ours, others } = await this.#find(request, state, signal);
    if (others.length > 0) return this.refused(request, this.#foreignText(request, others));
    const isLost = state.state === 'lost' && state.attempt >= LOSSES_AT_ONCE && !request.initialized;
    if (isLost || (state.state === 'ended' && state.code !== 0)) {
      return await this.#afterFailure(request, state, ours, signal);
    }
    const isWhole = state.state === 'ended' || (state.state === 'none' && request.initialized);
    if (isWhole && ours.length > 0) return await this.#settle(request, state, ours, signal);
    // Nothing there yet, half made by a run that was killed, or removed behind our back: made from the start.
    return await this.#create(request, ours, signal);
  }

  async #create(request: ClusterRequest<Spec>, leftover: Container[], signal?: AbortSignal): Promise<Progress> {
    const { id, spec, resolved } = request;
    const { path: program } = await this.program(signal);
    await this.#discard(leftover, signal);
    const refusal = await this.beforeCreate(request, signal);
    if (refusal) return refusal;
    await this.files.drop(id, 'kubeconfig');
    const { args, env } = await this.createRun(request);
    const note = { ...this.tool.shapeOf(spec), image: resolved.image, fingerprint: this.tool.fingerprint(spec) };
    await this.files.run(id).start({ program, args, env, note });
    this.creating.add(id);
    return {
      phase: 'working',
      reason: 'Creating',
      message: `${this.name} is making ${note.containers} containers from ${resolved.image}`,
      since: this.options.clock.now(),
      usualMs: this.tool.usualMs(note),
      next: `the cluster is asked itself whether it is ready, once ${this.name} is done`,
      lookAgainMs: this.options.pollMs,
    };
  }

  async #whileRunning(run: BackgroundRun, state: RunState, shape: ClusterShape): Promise<Progress> {
    const limit = 600_000 + 180_000 * shape.nodes;
    if (this.options.clock.now() - state.startedAt > limit) await run.stop(124);
    const step = this.tool.stepOf(state.output);
    return {
      phase: 'working',
      reason: 'Creating',
      message: `${this.name} is making the cluster: ${step ?? 'starting'}`,
      step,
      since: state.startedAt,
      usualMs: this.tool.usualMs(shape),
      output: lastLines(state.output, 3),
      next: `${this.name} is stopped and started again after ${Math.round(limit / 60_000)} min`,
      lookAgainMs: this.options.pollMs,
    };
  }

  async #afterFailure(
    request: ClusterRequest<Spec>,
    state: RunState,
    leftover: Container[],
    signal?: AbortSignal,
  ): Promise<Progress> {
    await this.#discard(leftover, signal);
    return this.failed(state, this.name) ?? (await this.#create(request, [], signal));
  }

  /** The tool has done its part: is everything as it should be, and is the cluster usable? */
  async #settle(
    request: ClusterRequest<Spec>,
    state: RunState,
    containers: Container[],
    signal?: AbortSignal,
  ): Promise<Progress> {
    const mending = await this.mend(request, containers, this.#expected(request, state), signal);
    if (mending) return mending;
    const at = this.options.clock.now();
    const progress = await this.#judge(request, state, containers, signal);
    if (progress.phase === 'ready') return progress;
    await this.tidy(request, containers, signal);
    if (progress.reason === 'WaitingForReady') this.#waiting.set(request.id, { containers, at });
    return progress;
  }

  async #judge(
    request: ClusterRequest<Spec>,
    state: RunState,
    containers: Container[],
    signal?: AbortSignal,
  ): Promise<Progress> {
    const shape = this.#expected(request, state);
    const cluster = await this.#look(request, shape, containers, signal);
    cluster.image = String(state.note.image ?? request.resolved.image);
    if (state.note.fingerprint && state.note.fingerprint !== this.tool.fingerprint(request.spec)) {
      cluster.outdated = `the spec has changed since the cluster was made, and ${this.name} cannot change it in place`;
    }
    if (cluster.phase === 'ready') {
      this.#waiting.delete(request.id);
      return { phase: 'ready', reason: 'Ready', message: '', cluster, lookAgainMs: RECHECK_MS };
    }
    const isLost = this.#lasting(containers).length < shape.containers;
    const { initialized } = request;
    return {
      phase: initialized ? 'blocked' : 'working',
      reason: isLost ? 'NodeLost' : initialized ? 'Degraded' : 'WaitingForReady',
      message: cluster.missing.join('; '),
      since: state.endedAt,
      usualMs: 15_000,
      next: isLost
        ? `${this.name} cannot make them again: delete the cluster and make it anew`
        : 'asked again until the cluster says it is ready',
      // Not much later than it is so.
      lookAgainMs: initialized ? this.options.pollMs * 4 : this.options.pollMs / 2,
      cluster,
    };
  }

  async #look(
    ref: ClusterRef<Spec>,
    shape: ClusterShape,
    containers: Container[],
    signal?: AbortSignal,
  ): Promise<Observation> {
    return await look({
      containers: this.#lasting(containers),
      shape,
      roleOf: this.tool.roleOf,
      kubeconfig: () => this.kubeconfig(ref, 'external', signal),
      probe: (kubeconfig) => this.options.probe(kubeconfig, { ...shape, place: 'this machine' }, signal),
      rejected: () => this.files.drop(ref.id, 'kubeconfig'),
    });
  }

  async #sweep(ref: ClusterRef<Spec>, states: RunState[], signal?: AbortSignal): Promise<Removal> {
    const [state] = states as [RunState];
    const { ours, others } = await this.#find(ref, state, signal);
    const removed = ours.map((container) => `container ${container.name}`);
    const again = (message: string, lookAgainMs: number): Removal => {
      return { isDone: false, removed, reason: 'Removing', message, next: 'looked for again', lookAgainMs };
    };
    if (ours.length > 0) await this.beforeRemoval(ref, ours);
    await this.#discard(ours, signal);
    if (ours.length > 0) return again(`${ours.length} containers removed`, 50);
    // Of a tool that ended by itself nothing can come any more.
    const lost = states.filter((one) => one.state === 'lost');
    if (lost.length > 0 && (await this.#isMaking(ref, lost, signal))) {
      return again(`Docker is still making a container for the ${this.name} that was killed`, STRAGGLER_MS);
    }
    const { ours: late } = await this.#find(ref, state, signal);
    if (late.length > 0) return again(`Docker made a container for the ${this.name} that was killed`, 50);
    // With somebody else's cluster of that name, what is called like it is theirs.
    const rest: Rest = others.length === 0 ? await this.removeRest(ref, signal) : { removed: [] };
    removed.push(...rest.removed);
    if (rest.left) return again(rest.left, 1000);
    if (lost.length > 0 && !(await this.#isQuiet(ref.id))) {
      return again(
        `nothing is left; what Docker does for the ${this.name} that was killed may come late`,
        STRAGGLER_MS,
      );
    }
    this.creating.delete(ref.id);
    await this.files.clear(ref.id);
    const left = others.length > 0 ? `; ${this.#foreignText(ref, others)}: left alone` : '';
    const message = `Docker lists no container of ${ref.name} with our mark${left}`;
    return { isDone: true, removed, reason: 'Removed', message };
  }

  async #isMaking(ref: ClusterRef<Spec>, lost: RunState[], signal?: AbortSignal): Promise<boolean> {
    // A crash right here leaves a container that the next sweep knows as ours.
    const args = ['--label', `${this.tool.clusterLabel}=${ref.name}`, ...this.marksOf(ref)];
    const names = lost.flatMap(({ note }) => {
      const also = (note.names as string[] | undefined) ?? this.tool.containerNames(ref.name, shapeFrom(note));
      return also.map((name) => ({ name, image: String(note.image) }));
    });
    for (const { name, image } of names) {
      if (await this.docker.isMaking(name, { args, image }, signal)) return true;
    }
    return false;
  }

  /** Whether nothing was found a moment ago either. */
  async #isQuiet(id: string): Promise<boolean> {
    const now = this.options.clock.now();
    const since = await this.files.read(id, 'quiet');
    if (since === undefined) await this.files.write(id, 'quiet', String(now));
    return since !== undefined && now - Number(since) >= STRAGGLER_MS;
  }

  async #find(ref: ClusterRef<Spec>, state: RunState, signal?: AbortSignal): Promise<Belongings> {
    const containers = await this.docker.containers(`${this.tool.clusterLabel}=${ref.name}`, signal);
    return this.tool.divide(containers, ref.id, state.state === 'none' ? undefined : state.startedAt);
  }

  async #discard(containers: Container[], signal?: AbortSignal): Promise<void> {
    if (containers.length === 0) return;
    await this.docker.remove(
      containers.map(({ id }) => id),
      signal,
    );
  }

  #expected(ref: ClusterRef<Spec>, { note }: RunState): ClusterShape {
    return this.expected(ref, 'nodes' in note ? shapeFrom(note) : this.tool.shapeOf(ref.spec));
  }

  #lasting(containers: Container[]): Container[] {
    return containers.filter((container) => !this.tool.isPassing?.(container));
  }

  #foreignText(ref: ClusterRef<Spec>, others: Container[]): string {
    const owner = others.map((container) => this.tool.ownerOf(container)).find(Boolean);
    const whose = owner ? `another object of Rookery (uid ${owner})` : 'somebody else';
    const names = others.map(({ name }) => name).join(', ');
    return `a ${this.name} cluster called ${ref.name} belongs to ${whose}: ${names}`;
  }
}

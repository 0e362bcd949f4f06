/**
 * k3d behind the contract of provisioners. k3d makes clusters, starts them, adds agents and imports images, each in a run of its own in the
 * background; everything else is asked of Docker, by the ids of the containers that carry our label. Each cluster has a folder of its
 * own, which k3d also takes for its temporary files: they hold tokens.
 */
import { RookeryError } from '../../errors.ts';
import type { BackgroundRun, RunRequest, RunState } from '../../tools/background-run.ts';
import type { Container } from '../../tools/docker.ts';
import { answered } from '../docker-cluster/answers.ts';
import type { ClusterShape, ClusterTool } from '../docker-cluster/cluster-tool.ts';
import {
  ContainerProvisioner,
  type ContainerProvisionerOptions,
  type Rest,
} from '../docker-cluster/container-provisioner.ts';
import { lastLines } from '../docker-cluster/tool-output.ts';
import type { ClusterRef, ClusterRequest, Progress } from '../provisioner.ts';
import { agentsOf, agentsToDo, isAgentName, newAgents } from './agents.ts';
import { ClusterBelongings } from './belongings.ts';
import { containerNames, DOLLAR, fingerprint, internalServer, type K3dSpec, k3dConfig, shapeOf } from './config.ts';
import { ImageImports, type Imported } from './image-imports.ts';
import { meaningOf, stepOf } from './output.ts';
import { CLUSTER_LABEL, divide, isHelper, OWNER_LABEL, ownerOf, roleOf } from './ownership.ts';
import { type ForgetNodes, forgetNodes } from './stale-nodes.ts';

export interface K3dProvisionerOptions extends ContainerProvisionerOptions {
  forgetNodes?: ForgetNodes;
}

const k3d: ClusterTool<K3dSpec> = {
  name: 'k3d',
  clusterLabel: CLUSTER_LABEL,
  deleteCommand: (cluster) => `k3d cluster delete ${cluster}`,
  ownerOf,
  roleOf,
  isPassing: isHelper,
  divide,
  shapeOf,
  fingerprint,
  containerNames,
  internalServer,
  // Measured on two cores: 15 s for a server, more for each that joins.
  usualMs: ({ nodes, controlPlanes }) => 15_000 + 8_000 * (nodes - controlPlanes) + 20_000 * (controlPlanes - 1),
  stepOf,
  meaningOf,
};

/** Work on a cluster that exists. */
type Work = 'start' | 'agents' | 'images';

const WORK: Record<Work, { reason: string; does: string; usualMs: number }> = {
  start: { reason: 'Starting', does: 'starting stopped containers', usualMs: 25_000 },
  agents: { reason: 'Scaling', does: 'adding agents', usualMs: 20_000 },
  images: { reason: 'ImportingImages', does: 'importing images', usualMs: 10_000 },
};
const WORK_LIMIT_MS = 900_000;
const CONFIG_FILE = 'k3d.yaml';
/** The highest number that agents were given since the cluster was made. */
const LAST_AGENT = 'last-agent';

export class K3dProvisioner extends ContainerProvisioner<K3dSpec> {
  override readonly scales = 'in place';
  readonly #belongings: ClusterBelongings;
  readonly #images: ImageImports;
  readonly #forgetNodes: ForgetNodes;

  constructor(options: K3dProvisionerOptions) {
    super(k3d, options);
    this.#belongings = new ClusterBelongings(this.docker, this.files);
    this.#images = new ImageImports(this.docker, this.files);
    this.#forgetNodes = options.forgetNodes ?? forgetNodes;
  }

  /**
   * Containers are killed, not stopped: on the signal of a stop k3d's nodes drain themselves, and pods that nobody makes again would be lost.
   * What k3s stores is safe against that, as against a machine that loses power.
   */
  override suspend(ref: ClusterRef<K3dSpec>, signal?: AbortSignal): Promise<Progress> {
    return answered(async () => {
      const work = this.#work(ref.id);
      const { state } = await work.read();
      if (state === 'running') {
        await work.stop();
        const message = 'k3d is stopped in the middle of its work';
        return { phase: 'working', reason: 'Suspending', message, lookAgainMs: 100 };
      }
      const ours = await this.containersOf(ref, signal);
      const running = ours.filter((container) => container.state === 'running').map(({ id }) => id);
      if (running.length > 0) await this.docker.kill(running, signal);
      const message = `${ours.length} containers are stopped; their disks are kept`;
      const suspended: Progress = {
        phase: 'suspended',
        reason: 'Suspended',
        message,
        next: 'resume starts them again',
      };
      if (state !== 'lost') return suspended;
      // What was under way may start one more.
      if (running.length > 0) return { ...suspended, lookAgainMs: 1000 };
      await work.clear();
      return suspended;
    });
  }

  protected override runs(id: string): BackgroundRun[] {
    return [...super.runs(id), this.#work(id)];
  }

  protected override async lastRun(request: ClusterRequest<K3dSpec>, creation: RunState) {
    const state = await this.#work(request.id).read();
    if (state.state !== 'ended') return await super.lastRun(request, creation);
    return { state, title: `k3d: ${WORK[state.note.work as Work].does} of ${request.name}` };
  }

  protected override async beforeCreate(
    request: ClusterRequest<K3dSpec>,
    signal?: AbortSignal,
  ): Promise<Progress | undefined> {
    const { id, name } = request;
    await this.files.drop(id, 'work', 'images.json', LAST_AGENT);
    const foreign = await this.#belongings.claim(id, name, signal);
    if (!foreign) return undefined;
    const message = `Docker has a ${foreign} that is not ours, and k3d would use it for ${name}`;
    const next = `choose another clusterName, or remove it: docker ${foreign.replace(' ', ' rm ')}`;
    return { ...this.refused(request, message), next };
  }

  protected override async createRun(request: ClusterRequest<K3dSpec>): Promise<Pick<RunRequest, 'args' | 'env'>> {
    const { id, name, spec, resolved, access } = request;
    const registryConfig = access?.registryConfig ?? spec.registryConfig;
    const parts = { name, image: resolved.image, owner: id, ...(registryConfig ? { registryConfig } : {}) };
    await this.files.write(id, CONFIG_FILE, k3dConfig(spec, parts));
    const args = ['cluster', 'create', '--config', this.files.path(id, CONFIG_FILE)];
    return { args, env: await this.#foldersAndEnv(id) };
  }

  protected override async fetchKubeconfig(ref: ClusterRef<K3dSpec>, signal?: AbortSignal): Promise<string> {
    const { path } = await this.program(signal);
    const env = this.#env(ref.id);
    const { code, stdout, stderr } = await this.options.processes.run(path, ['kubeconfig', 'get', ref.name], {
      env,
      signal,
    });
    if (code !== 0) {
      const { means } = meaningOf(stderr);
      throw new RookeryError('k3d.kubeconfig', `k3d gave no kubeconfig: ${means}`, { class: 'retryable' });
    }
    await this.files.writeKubeconfig(ref.id, stdout);
    return stdout;
  }

  protected override expected({ spec }: ClusterRef<K3dSpec>, built: ClusterShape): ClusterShape {
    const before = built.containers - built.nodes;
    const nodes = built.controlPlanes + (spec.agents ?? 0);
    return { ...built, nodes, containers: nodes + before };
  }

  protected override async underWay(request: ClusterRequest<K3dSpec>): Promise<Progress | undefined> {
    const run = this.#work(request.id);
    const { state, note, startedAt, output } = await run.read();
    const work = note.work as Work;
    if (state !== 'running') return undefined;
    if (this.options.clock.now() - startedAt > WORK_LIMIT_MS) await run.stop(124);
    if (work === 'images' && request.initialized) return undefined;
    return { ...this.#working(work, startedAt), step: stepOf(output), output: lastLines(output, 3) };
  }

  protected override async mend(
    request: ClusterRequest<K3dSpec>,
    containers: Container[],
    shape: ClusterShape,
    signal?: AbortSignal,
  ): Promise<Progress | undefined> {
    const { id, name, spec, initialized } = request;
    const state = await this.#work(id).read();
    // Images that come into a cluster in use.
    if (state.state === 'running') return undefined;
    if (state.state === 'ended' && state.code === 0 && state.note.work === 'images') {
      await this.#images.done(id, state.note.imported as Imported);
    }
    // Copies of the configuration, with what is secret in it.
    await this.files.drop(id, 'tmp', CONFIG_FILE);
    const { helpers, lasting } = sorted(containers);
    if (helpers.length > 0) await this.docker.remove(ids(helpers), signal);
    // A cluster that lost a server, or what stands before them, is for the look at it to report.
    const { agents = 0 } = spec;
    if (lasting.length - agentsOf(lasting).length < shape.containers - agents) return undefined;
    if (lasting.some((container) => container.state !== 'running')) {
      const stopped = lasting.filter((container) => container.state !== 'running').map((container) => container.name);
      await this.files.drop(id, 'kubeconfig');
      const args = ['cluster', 'start', name, '--wait', '--timeout', '600s'];
      return await this.#begin(request, state, 'start', { args, note: { stopped } }, signal);
    }
    const { missing, surplus } = agentsToDo(agents, lasting);
    if (surplus.length > 0) {
      await this.docker.remove(ids(surplus), signal);
      const left = lasting.filter((container) => !surplus.includes(container));
      await this.tidy(request, left, signal);
      const message = `removed ${surplus.map((agent) => agent.name).join(', ')}`;
      return { phase: 'working', reason: 'Scaling', message, lookAgainMs: this.options.pollMs };
    }
    if (missing > 0) {
      await this.tidy(request, lasting, signal);
      const last = Number((await this.files.read(id, LAST_AGENT)) ?? -1);
      const { number, args, names } = newAgents(request, missing, lasting, last);
      await this.files.write(id, LAST_AGENT, String(number));
      const image = request.resolved.image;
      return await this.#begin(request, state, 'agents', { args, note: { names, image } }, signal);
    }
    const nodes = lasting.filter((container) => roleOf(container) !== undefined);
    const todo = await this.#images.toDo(id, spec.images ?? [], nodes, signal);
    if (todo.missing.length > 0) return unavailable(todo.missing);
    const due = Object.keys(todo.due);
    if (due.length === 0) return undefined;
    const args = ['image', 'import', '--mode', 'direct', '--cluster', name, '--', ...due];
    const progress = await this.#begin(request, state, 'images', { args, note: { imported: todo.due } }, signal);
    // A cluster in use goes on while it gets a newer image.
    return initialized && progress.phase === 'working' ? undefined : progress;
  }

  protected override async tidy(
    request: ClusterRequest<K3dSpec>,
    containers: Container[],
    signal?: AbortSignal,
  ): Promise<void> {
    const there = new Set(containers.map((container) => container.name));
    const kubeconfig = await this.files.kubeconfig(request.id);
    if (!kubeconfig) return;
    await this.#forgetNodes(kubeconfig, (node) => isAgentName(request.name, node) && !there.has(node), signal);
  }

  protected override marksOf(ref: ClusterRef<K3dSpec>): string[] {
    return ['--label', `${OWNER_LABEL}=${ref.id}`];
  }

  protected override async beforeRemoval(ref: ClusterRef<K3dSpec>): Promise<void> {
    await this.#belongings.adopt(ref.id);
  }

  protected override removeRest(ref: ClusterRef<K3dSpec>, signal?: AbortSignal): Promise<Rest> {
    return this.#belongings.remove(ref.id, ref.name, signal);
  }

  /** Starts a run on the cluster, unless the last one of that sort failed a moment ago. */
  async #begin(
    request: ClusterRequest<K3dSpec>,
    last: RunState,
    work: Work,
    { args, note }: { args: string[]; note: Record<string, unknown> },
    signal?: AbortSignal,
  ): Promise<Progress> {
    const run = this.#work(request.id);
    const hasFailed = last.state === 'ended' && last.code !== 0 && last.note.work === work;
    const blocked = hasFailed && this.failed(last, `k3d ${args.slice(0, 2).join(' ')}`);
    if (blocked) return blocked;
    if (!hasFailed) await run.clear();
    const { path: program } = await this.program(signal);
    await run.start({ program, args, env: await this.#foldersAndEnv(request.id), note: { ...note, work } });
    return this.#working(work, this.options.clock.now());
  }

  #working(work: Work, since: number): Progress {
    const { reason, does, usualMs } = WORK[work];
    const next = `k3d is stopped and started again after ${WORK_LIMIT_MS / 60_000} min`;
    const { pollMs } = this.options;
    return { phase: 'working', reason, message: `k3d is ${does}`, since, usualMs, next, lookAgainMs: pollMs };
  }

  #work(id: string): BackgroundRun {
    return this.files.run(id, 'work');
  }

  async #foldersAndEnv(id: string): Promise<Record<string, string>> {
    for (const name of ['tmp', 'config']) await this.files.folder(id, name);
    return this.#env(id);
  }

  /** k3d takes more than flags from its environment, and must never touch the user's own kubeconfig and folders. */
  #env(id: string): Record<string, string> {
    return {
      // Never a shared file, nor a device: k3d replaces what it is given by renaming.
      KUBECONFIG: this.files.path(id, 'config', 'unused.kubeconfig'),
      TMPDIR: this.files.path(id, 'tmp'),
      XDG_CONFIG_HOME: this.files.path(id, 'config'),
      LOG_LEVEL: 'info',
      LOG_COLORS: '0',
      [DOLLAR]: '$',
    };
  }
}

function sorted(containers: Container[]): { helpers: Container[]; lasting: Container[] } {
  return {
    helpers: containers.filter(isHelper),
    lasting: containers.filter((container) => !isHelper(container)),
  };
}

function unavailable(images: string[]): Progress {
  return {
    phase: 'blocked',
    reason: 'ImageUnavailable',
    message: `not on this machine, so they cannot be put into the nodes: ${images.join(', ')}`,
    next: 'build or fetch them (docker build, docker pull), or take them out of images; looked again every 10 s',
    lookAgainMs: 10_000,
  };
}

function ids(containers: Container[]): string[] {
  return containers.map(({ id }) => id);
}

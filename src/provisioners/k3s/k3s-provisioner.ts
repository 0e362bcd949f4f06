/**
 * k3s behind the contract of provisioners: one cluster on one Linux machine that is given to it, this one or one over SSH. The machine itself holds what
 * must not be lost: whose it is (before anything else), what was there before us, the token, and the work that goes on while we are away. We
 * keep a folder for each cluster with the key the machine showed first.
 */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Random, systemRandom } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { HostFolders } from '../../machines/host-folders.ts';
import type { RunState } from '../../tools/background-run.ts';
import type { Processes } from '../../tools/processes.ts';
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
import { answered, foreignText, reasonOf, refusalOf, takenText } from './answers.ts';
import { chooseBinary, K3sBinaries, type K3sBinary } from './binaries.ts';
import { addressesOf, expectationOf, filesFor, fingerprint, type K3sSpec, type Supervision } from './config.ts';
import { Delivery } from './delivery.ts';
import { knownHosts, type OpenHost } from './known-hosts.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import { K3sMachine, type Task } from './machine.ts';
import type { MachineState } from './machine-state.ts';
import { lastLines, meaningOf } from './output.ts';
import { HOME, UNIT } from './scripts.ts';

export interface K3sProvisionerOptions {
  processes: Processes;
  clock: Clock;
  /** Where it keeps a folder for each cluster. */
  folder: string;
  /** Folders whose programs and archives may be taken, besides programs called k3s on PATH and in ROOKERY_TOOLS. Default: none. */
  folders?: HostFolders;
  random?: Random;
  probe?: HealthProbe;
  /** How the machine of a cluster is reached. */
  openHost?: OpenHost;
  /** How soon to look again while something is under way. */
  pollMs?: number;
}

const NO_FOLDERS = new HostFolders([]);
/** In the folder of a cluster, once its machine was claimed. */
const CLAIMED = 'claimed';
const RECHECK_MS = 15_000;
/** While k3s comes up, each look at its machine takes the processor from what shall become ready: it is asked itself, and the machine seldom. */
const LOOK_AGE_MS = 5000;
/** Measured on two busy cores: 15 to 25 s from the start of k3s to DNS. */
const USUAL_MS = 25_000;
/** After so many starts in a row something is wrong that time does not heal. */
const RESTARTS_MAX = 3;

export class K3sProvisioner implements Provisioner<K3sSpec> {
  readonly name = 'k3s';
  readonly fidelity = 'machine';
  readonly upgrades = 'in place';
  readonly scales = { never: 'its one node is the machine that was given to it' };
  readonly #options: Required<Omit<K3sProvisionerOptions, 'openHost'>>;
  readonly #openHost: OpenHost;
  readonly #binaries: K3sBinaries;
  readonly #delivery: Delivery;
  /** What was seen of machines whose k3s runs and is not ready yet. */
  readonly #comingUp = new Map<string, { state: MachineState; at: number }>();

  constructor(options: K3sProvisionerOptions) {
    const { processes, clock, folder } = options;
    this.#options = { random: systemRandom, probe: probeHealth, pollMs: 200, folders: NO_FOLDERS, ...options };
    const { folders, pollMs } = this.#options;
    this.#openHost = options.openHost ?? knownHosts(processes, clock, folder);
    this.#binaries = new K3sBinaries(processes, folders);
    this.#delivery = new Delivery(this.#binaries, folders, pollMs);
  }

  async probe(signal?: AbortSignal): Promise<Availability> {
    const found = await this.#binaries.here(undefined, signal);
    try {
      const { version, path } = chooseBinary(found, undefined);
      return {
        isUsable: true,
        version,
        detail: `k3s ${version} (${path}), for this machine as root or others over SSH`,
      };
    } catch (error) {
      if (!(error instanceof RookeryError)) throw error;
      return { isUsable: false, why: 'there is no k3s on PATH or in ROOKERY_TOOLS', fix: error.hint ?? '' };
    }
  }

  async resolve(ref: ClusterRef<K3sSpec>, signal?: AbortSignal): Promise<Resolution> {
    const { binary: path, kubernetesVersion } = ref.spec;
    const here = await this.#binaries.here(path, signal);
    const wanted = kubernetesVersion;
    let chosen: K3sBinary;
    try {
      chosen = chooseBinary(here, wanted);
    } catch (error) {
      if (!(error instanceof RookeryError) || error.code !== 'version.unavailable') throw error;
      const there = await this.#binaries.onHost(this.#openHost(ref), path, signal);
      chosen = chooseBinary([...here, ...there], wanted);
    }
    return { version: chosen.version, image: `k3s@sha256:${chosen.sha256}` };
  }

  ensure(request: ClusterRequest<K3sSpec>, signal?: AbortSignal): Promise<Progress> {
    return answered(() => this.#ensure(request, false, signal));
  }

  resume(request: ClusterRequest<K3sSpec>, signal?: AbortSignal): Promise<Progress> {
    return this.ensure(request, signal);
  }

  /** Pods go on: only k3s itself is replaced and started anew. */
  upgrade(request: ClusterRequest<K3sSpec>, signal?: AbortSignal): Promise<Progress> {
    return answered(() => this.#ensure(request, true, signal));
  }

  async observe(ref: ClusterRef<K3sSpec>, signal?: AbortSignal): Promise<Observation> {
    const machine = this.#machine(ref);
    const state = await machine.look(signal);
    const { identity } = machine.host;
    if (state.owner && state.owner.id !== ref.id) return empty('foreign', takenText(identity, state));
    if (!state.owner && state.foreign.length > 0) return empty('foreign', foreignText(identity, state));
    if (!state.owner) return empty('absent', `${identity} has no k3s of ours`);
    return await this.#observed(ref, state, signal);
  }

  async kubeconfig(ref: ClusterRef<K3sSpec>, audience: 'external' | 'internal', signal?: AbortSignal): Promise<string> {
    const host = this.#openHost(ref);
    const written = await host.read(`${HOME}/kubeconfig`, signal);
    if (!written) {
      throw new RookeryError('k3s.kubeconfig', `k3s on ${host.identity} has not written its kubeconfig yet`, {
        class: 'retryable',
      });
    }
    return await kubeconfigFor(written, ref.name, addressesOf(ref.spec)[audience]);
  }

  suspend(ref: ClusterRef<K3sSpec>, signal?: AbortSignal): Promise<Progress> {
    this.#comingUp.delete(ref.id);
    return answered(async () => {
      const machine = this.#machine(ref);
      const state = await machine.look(signal);
      if (state.owner?.id !== ref.id) return suspended('there is nothing of ours on the machine');
      const task = await machine.task(signal);
      if (task.state === 'running') return stopping(task);
      if (isQuiet(state) && state.isStopped) {
        return { ...suspended('k3s and its pods are stopped; their data is kept'), ...transcriptOf(task) };
      }
      await machine.begin('suspend', signal);
      return stopping(task);
    });
  }

  async remove(ref: ClusterRef<K3sSpec>, signal?: AbortSignal): Promise<Removal> {
    try {
      return await this.#remove(ref, signal);
    } catch (error) {
      if (!(error instanceof RookeryError) || !error.retry) throw error;
      if (!(await this.#hasClaimed(ref.id))) {
        return await this.#forgotten(ref.id, 'NothingMade', 'nothing was made, so nothing was removed');
      }
      const next = `${error.hint ? `${error.hint}; ` : ''}tried again every 10 s`;
      return { isDone: false, removed: [], reason: reasonOf(error), message: error.message, next, lookAgainMs: 10_000 };
    }
  }

  async inventory(known: readonly ClusterRef<K3sSpec>[], signal?: AbortSignal): Promise<FoundThing<K3sSpec>[]> {
    const here = { id: '', name: 'this machine', spec: { host: {}, dataDir: '/var/lib/rancher/k3s' } as K3sSpec };
    const found: FoundThing<K3sSpec>[] = [];
    const seen = new Set<string>();
    for (const ref of [here, ...known]) {
      // What cannot be reached cannot be listed; its object says so itself.
      const machine = attempt(() => this.#machine(ref));
      if (!machine || seen.has(machine.host.identity)) continue;
      seen.add(machine.host.identity);
      const state = await machine.look(signal).catch(() => undefined);
      if (!state?.owner || state.uid !== 0) continue;
      const { id, name, dataDir } = state.owner;
      const owner = { ...ref, id, name, spec: { ...ref.spec, dataDir } };
      found.push({ ref: owner, what: `k3s on ${machine.host.identity}` }, { ref: owner, what: `data ${dataDir}` });
    }
    return found;
  }

  async #ensure(request: ClusterRequest<K3sSpec>, isUpgrade: boolean, signal?: AbortSignal): Promise<Progress> {
    const machine = this.#machine(request);
    const { identity } = machine.host;
    const wait = this.#delivery.underWay(request.id, machine.host) ?? (await this.#wait(request, machine, signal));
    if (wait) return wait;
    const state = await machine.look(signal);
    const refusal = refusalOf(request, identity, state);
    if (refusal) return refusal;
    if (!state.owner) {
      // Intent before effect: from here on the machine must be asked before the cluster can be forgotten.
      await mkdir(this.#path(request.id), { recursive: true, mode: 0o700 });
      await writeFile(this.#path(request.id, CLAIMED), identity, { mode: 0o600 });
      const owner = await machine.claim(signal);
      if (owner.id !== request.id) return refusalOf(request, identity, { ...state, owner }) as Progress;
    } else if (state.isStopped) {
      const task = await machine.task(signal);
      if (task.state === 'running') return stopping(task);
    }
    return (
      (await this.#delivery.bring(request, machine, state, isUpgrade, signal)) ??
      (await this.#run(request, machine, state, signal))
    );
  }

  /** Nothing to do but to wait for k3s, as far as was seen a moment ago; undefined when the machine has to be looked at. */
  async #wait(
    request: ClusterRequest<K3sSpec>,
    machine: K3sMachine,
    signal?: AbortSignal,
  ): Promise<Progress | undefined> {
    const { id, spec, initialized } = request;
    const seen = this.#comingUp.get(id);
    if (!seen || initialized || this.#options.clock.now() - seen.at >= LOOK_AGE_MS) return undefined;
    const { state } = seen;
    if (state.applied !== appliedText(spec, state)) return undefined;
    state.kubeconfig ??= await machine.kubeconfig(signal);
    return await this.#judge(request, state, signal);
  }

  /** Everything is on the machine: is it configured as asked for, does it run, is the cluster usable? */
  async #run(
    request: ClusterRequest<K3sSpec>,
    machine: K3sMachine,
    state: MachineState,
    signal?: AbortSignal,
  ): Promise<Progress> {
    const { spec } = request;
    const { pollMs, random } = this.#options;
    const supervision = supervisionOf(spec, state);
    const wanted = appliedText(spec, state);
    if (state.applied !== wanted || !state.isKept || (state.isStopped && !state.server)) {
      const isAnew = state.applied !== wanted;
      await Promise.all([machine.writeToken(random, signal), machine.write(filesFor(spec, supervision, UNIT), signal)]);
      await machine.start(isAnew && state.server ? 'restart' : 'start', supervision, signal);
      await machine.host.put(`${HOME}/applied`, wanted, 0o600, signal);
      const message = request.initialized
        ? `k3s was started ${isAnew ? 'with what changed' : 'again'}`
        : 'k3s was started';
      return {
        phase: 'working',
        reason: 'Starting',
        message,
        step: 'Starting k3s',
        usualMs: USUAL_MS,
        lookAgainMs: pollMs,
      };
    }
    const progress = await this.#judge(request, state, signal);
    const isComingUp = progress.reason === 'WaitingForReady' && state.server !== undefined;
    if (isComingUp) this.#comingUp.set(request.id, { state, at: this.#options.clock.now() });
    return progress;
  }

  /** It runs as it was told to: what does it say itself? */
  async #judge(request: ClusterRequest<K3sSpec>, state: MachineState, signal?: AbortSignal): Promise<Progress> {
    const { pollMs } = this.#options;
    const cluster = await this.#observed(request, state, signal);
    cluster.image = state.binary ? `k3s@sha256:${state.binary}` : request.resolved.image;
    if (cluster.phase === 'ready') {
      this.#comingUp.delete(request.id);
      return { phase: 'ready', reason: 'Ready', message: '', cluster, lookAgainMs: RECHECK_MS };
    }
    const isFailing = state.restarts >= RESTARTS_MAX;
    const meaning = isFailing || !state.server ? meaningOf(state.log) : undefined;
    const isBlocked = isFailing || (request.initialized && cluster.phase === 'degraded');
    return {
      phase: isBlocked ? 'blocked' : 'working',
      reason: meaning?.reason ?? (isFailing ? 'K3sFailing' : isBlocked ? 'Degraded' : 'WaitingForReady'),
      message: [
        ...(meaning ? [meaning.means] : []),
        ...(isFailing ? [`k3s ended ${state.restarts} times`] : []),
        ...cluster.missing,
      ].join('; '),
      step: 'Waiting for the cluster',
      usualMs: USUAL_MS,
      output: lastLines(state.log),
      next: `${meaning ? `${meaning.help}; ` : ''}asked again until the cluster says it is ready`,
      lookAgainMs: isBlocked ? pollMs * 4 : pollMs,
      cluster,
    };
  }

  async #observed(ref: ClusterRef<K3sSpec>, state: MachineState, signal?: AbortSignal): Promise<Observation> {
    if (isQuiet(state)) return empty('suspended', 'k3s is stopped');
    if (!state.server) return empty('starting', 'k3s does not run');
    if (!state.kubeconfig) return empty('starting', 'k3s has not written its kubeconfig yet');
    const url = addressesOf(ref.spec).external;
    const kubeconfig = await kubeconfigFor(state.kubeconfig, ref.name, url);
    // The machine was named in the spec, by a user with permission for it.
    const expected = { ...expectationOf(ref.spec), place: 'this machine' as const };
    const health = await this.#options.probe(kubeconfig, expected, signal);
    const { hostname, port } = new URL(url);
    const { missing, nodes, version } = health;
    return {
      phase: missing.length === 0 ? 'ready' : version ? 'degraded' : 'starting',
      nodes,
      version,
      missing,
      endpoint: { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) },
    };
  }

  async #remove(ref: ClusterRef<K3sSpec>, signal?: AbortSignal): Promise<Removal> {
    const machine = this.#machine(ref);
    const { host } = machine;
    this.#comingUp.delete(ref.id);
    await this.#delivery.cancel(ref.id, host);
    const state = await machine.look(signal);
    if (state.owner?.id !== ref.id) {
      const left = state.owner ? `; ${takenText(host.identity, state)}: left alone` : '';
      return await this.#forgotten(ref.id, 'Removed', `${host.identity} has nothing of ours${left}`);
    }
    const task = await machine.task(signal);
    const name = task.note.task as Task | undefined;
    const underWay = { isDone: false, removed: [], reason: 'Removing', lookAgainMs: this.#options.pollMs * 2 };
    if (task.state === 'running' && name === 'remove') {
      return {
        ...underWay,
        message: `k3s is being removed from ${host.identity}`,
        next: 'looked at again until nothing is left',
      };
    }
    if (task.state === 'running') {
      await machine.stopTask(signal);
      return { ...underWay, message: 'a stop that was under way was ended', lookAgainMs: 50 };
    }
    if (name === 'remove' && task.state === 'ended') {
      if (task.code === 0) {
        const removed = linesOf(task.output, 'removed');
        await machine.release(signal);
        const message = `no process, mount, link, rule or file of k3s is left on ${host.identity}`;
        return { ...(await this.#forgotten(ref.id, 'Removed', message)), removed };
      }
      const left = linesOf(task.output, 'left').join(', ') || lastLines(task.output).join('; ');
      await machine.begin('remove', signal);
      const next = 'tried again until nothing is left';
      return { ...underWay, reason: 'LeftBehind', message: `still there: ${left}`, next, lookAgainMs: 5000 };
    }
    await machine.begin('remove', signal);
    return { ...underWay, message: `k3s is being removed from ${host.identity}` };
  }

  async #forgotten(id: string, reason: string, message: string): Promise<Removal> {
    await rm(this.#path(id), { recursive: true, force: true });
    return { isDone: true, removed: [], reason, message };
  }

  async #hasClaimed(id: string): Promise<boolean> {
    return (await stat(this.#path(id, CLAIMED)).catch(() => undefined)) !== undefined;
  }

  #machine(ref: ClusterRef<K3sSpec>): K3sMachine {
    const { id, name, spec } = ref;
    return new K3sMachine(this.#openHost(ref), { id, name, dataDir: spec.dataDir }, this.#options.clock);
  }

  #path(id: string, ...names: string[]): string {
    return join(this.#options.folder, id, ...names);
  }
}

function supervisionOf(spec: K3sSpec, state: MachineState): Supervision {
  if (spec.supervision !== 'auto') return spec.supervision;
  return state.hasSystemd ? 'systemd' : 'process';
}

/** What is in place when k3s runs as asked for. With the program: one that was replaced is started, also when we were killed in between. */
function appliedText(spec: K3sSpec, state: MachineState): string {
  return `${fingerprint(filesFor(spec, supervisionOf(spec, state), UNIT))} ${state.binary?.slice(0, 12)}`;
}

function isQuiet(state: MachineState): boolean {
  return !state.server && !state.isKept && state.shims === 0;
}

function empty(phase: Observation['phase'], why: string): Observation {
  return { phase, nodes: [], missing: [why] };
}

function suspended(message: string): Progress {
  return { phase: 'suspended', reason: 'Suspended', message, next: 'resume starts k3s again' };
}

function stopping(task: RunState): Progress {
  const output = task.state === 'running' ? lastLines(task.output) : [];
  return {
    phase: 'working',
    reason: 'Stopping',
    message: 'k3s and its pods are being stopped',
    output,
    next: 'looked at again',
    lookAgainMs: 500,
  };
}

function transcriptOf(task: RunState): Pick<Progress, 'transcript'> {
  if (task.state !== 'ended') return {};
  return { transcript: { startedAt: task.startedAt, title: 'k3s stopped', text: task.output } };
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof RookeryError) return undefined;
    throw error;
  }
}

function linesOf(output: string, word: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.slice(word.length + 1));
}

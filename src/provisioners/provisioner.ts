/**
 * The contract of everything that makes clusters, one folder per tool. What it promises, and `test/conformance/provisioner`
 * checks for each of them:
 *
 * - No call waits for minutes. `ensure`, `suspend`, `resume` and `remove` do the next step, say where things stand, and are called
 *   again (`lookAgainMs`) until the phase is settled. Long tool runs go on in the background, also across a crash of ours.
 * - Intent before effect: what is made carries the owner's id, and can be found by it after a `kill -9` at any moment.
 * - A name that belongs to somebody else is refused, never adopted and never deleted.
 * - `remove` ends with nothing left, however little or much was made, and says what it removed.
 * - Trouble that can pass (Docker is down, a pull failed) is an answer, not an exception.
 */
import type { Place } from '../kube/index.ts';
import type { Availability, Removal } from '../tools/outcomes.ts';

export type { Availability, Removal } from '../tools/outcomes.ts';

export type Fidelity = 'simulated' | 'container' | 'virtual' | 'machine';

/** Whose cluster it is (uid of the owning object), what it is called outside, and what was asked for. */
export interface ClusterRef<Spec> {
  id: string;
  name: string;
  spec: Spec;
  /**
   * Texts of the secrets its spec refers to (the kubeconfig of a host cluster, an SSH key), by the names its provisioner gives them.
   * Read anew before each call, never stored outside the store.
   */
  access?: Readonly<Record<string, string>>;
  /** Where its API server, and that of the cluster it lives in, may be. Without it: not on this machine. */
  place?: Place;
}

export interface ClusterRequest<Spec> extends ClusterRef<Spec> {
  /** What `resolve` answered before anything was made, and was stored since. */
  resolved: Resolution;
  /** The cluster has been ready once: from now on it is repaired, not made anew. */
  initialized: boolean;
  /** What shall become of a cluster whose store is lost; without it such a cluster is refused. */
  decision?: StoreDecision;
}

/** `restore`: what `rookery backup restore` has laid ready. `start-empty`: what it stored is given up. */
export type StoreDecision = 'restore' | 'start-empty';

export interface Resolution {
  /** `v1.35.8`; absent where an image of the user's own decides. */
  version?: string;
  image: string;
}

/** Where things stand: what blocks, since when, what was said last, and what happens next. */
export interface Progress {
  /** `refused`: only a change by the user helps. `blocked`: tried again by itself. */
  phase: 'working' | 'ready' | 'suspended' | 'blocked' | 'refused';
  /** CamelCase, for programs. */
  reason: string;
  message: string;
  /** The part of the work that is under way, in the tool's words. */
  step?: string;
  /** Milliseconds since the epoch. */
  since?: number;
  /** How long that usually takes. */
  usualMs?: number;
  /** The last lines of the tool, without secrets. */
  output?: string[];
  /** All that a run of the tool said, once it has ended, without secrets: for the journal. */
  transcript?: { startedAt: number; title: string; text: string };
  /** What happens next, or what a person can do. */
  next?: string;
  lookAgainMs?: number;
  cluster?: Observation;
  /** What else was asked for and is not done, while the cluster goes on as it is: only a change by the user helps. */
  refusal?: Pick<Progress, 'reason' | 'message' | 'next'>;
}

export interface ObservedNode {
  name: string;
  role?: string;
  ready: boolean;
}

/** What a cluster stores, and what it may. */
export interface ObservedStorage {
  bytes: { used: number; limit: number };
  objects: { used: number; limit: number };
}

export interface Observation {
  phase: 'absent' | 'creating' | 'starting' | 'ready' | 'degraded' | 'suspended' | 'foreign';
  nodes: ObservedNode[];
  version?: string;
  image?: string;
  /** What keeps it from being ready, one sentence each. */
  missing: string[];
  endpoint?: { host: string; port: number };
  /** Absent where it is not known. */
  storage?: ObservedStorage;
  /** How it differs from what is asked for, where the tool cannot change it in place. */
  outdated?: string;
}

/** Something in the world that carries our mark. */
export interface FoundThing<Spec> {
  /** The cluster it is part of; `remove` takes it as it is, also when nobody owns it any more. */
  ref: ClusterRef<Spec>;
  what: string;
}

/** How a number of nodes changes; `never` says why there is none to change. */
export type Scaling = 'in place' | 'recreate' | { never: string };

export interface Provisioner<Spec> {
  readonly name: string;
  readonly fidelity: Fidelity;
  /** How a cluster that exists gets another version of Kubernetes, and another number of nodes. */
  readonly upgrades: 'in place' | 'recreate';
  readonly scales: Scaling;
  /** Can it be used here, and if not, why and what helps. */
  probe(signal?: AbortSignal): Promise<Availability>;
  /** Version and image of a new cluster; throws a `RookeryError` of the class `user` for what cannot be had. */
  resolve(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Resolution>;
  /** Brings the cluster to what is asked for, number of nodes included where it `scales` in place. */
  ensure(request: ClusterRequest<Spec>, signal?: AbortSignal): Promise<Progress>;
  /** What there is, without changing anything. */
  observe(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Observation>;
  /** `external`: from this machine. `internal`: from a container on the cluster's network, or a pod of its host cluster. */
  kubeconfig(ref: ClusterRef<Spec>, audience: 'external' | 'internal', signal?: AbortSignal): Promise<string>;
  suspend(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Progress>;
  resume(request: ClusterRequest<Spec>, signal?: AbortSignal): Promise<Progress>;
  /** Called in place of `ensure` while the version in `resolved` is not the one that runs. */
  upgrade(request: ClusterRequest<Spec>, signal?: AbortSignal): Promise<Progress>;
  /**
   * Keeps the state the cluster has now, under a name of the caller's, as long as the cluster lives. One that was kept stays as it is, so that whoever
   * is not sure after a crash asks again. `false`: what was written last still has consequences under way; ask again soon. Absent where the tool
   * cannot: callers make the cluster anew.
   */
  snapshot?(ref: ClusterRef<Spec>, name: string, signal?: AbortSignal): Promise<boolean>;
  /** Brings that state back, whole or not at all; kubeconfigs stay valid. `false`: nothing was kept under the name. */
  restore?(ref: ClusterRef<Spec>, name: string, signal?: AbortSignal): Promise<boolean>;
  remove(ref: ClusterRef<Spec>, signal?: AbortSignal): Promise<Removal>;
  /** Everything with our mark, whoever owns it, for the sweep: on this machine, and where the known clusters live. */
  inventory(known: readonly ClusterRef<Spec>[], signal?: AbortSignal): Promise<FoundThing<Spec>[]>;
}

/**
 * vcluster behind the contract of provisioners: a cluster in a namespace of another one, made of objects of our own. No program and no helm: everything
 * is asked of the host's API and of the vcluster itself, and nothing is kept here. Each call reads what there is, applies what differs, and says
 * what is missing.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { ignoreNotFound, keyOf, type ObjectStore } from '../../kube/index.ts';
import { compareVersions, findVersion, type Version } from '../../tools/versions.ts';
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
import { answered, nothingKept, reasonOf, refusedUpgrade, taken, terminating, unfitHost } from './answers.ts';
import { type Applied, applyObjects } from './apply.ts';
import { type Claim, changeClaim, readClaim, writeClaim } from './claim.ts';
import { vclusterConfig } from './config.ts';
import { diagnose, isPodReady, ownPods } from './diagnosis.ts';
import { type HostAccess, HostClusters, hostError } from './host-clusters.ts';
import * as host from './host-resources.ts';
import { takeInventory } from './inventory.ts';
import { look, type Parts, readKubeconfig } from './look.ts';
import { CLAIM, ownerOf, type VclusterSpec } from './marks.ts';
import type { Blueprint } from './objects.ts';
import { chooseReach, nodePortOf } from './reach.ts';
import { DEFAULT_VCLUSTER, kubernetesRelease, vclusterRelease, whyNotUpgrade } from './releases.ts';
import { removeFromHost } from './removal.ts';
import { placeOf, type Survey, survey } from './survey.ts';
import { suspendInHost } from './suspension.ts';
import { checkedValues } from './values.ts';

export interface VclusterProvisionerOptions {
  clock: Clock;
  probe?: HealthProbe;
  hosts?: Pick<HostClusters, 'of'>;
  /** How soon to look again while something is under way. */
  pollMs?: number;
}

const RECHECK_MS = 15_000;
/** While one comes up, each look at all its objects takes the host's processor from it: only its pod is watched, and the rest seldom. */
const LOOK_AGE_MS = 5000;
/** Measured on two cores, images present. */
const USUAL_MS = 25_000;
/** vcluster writes its kubeconfig once, when it has started: one that was deleted comes back with the next start. */
const KUBECONFIG_MS = 30_000;

type Ref = ClusterRef<VclusterSpec>;
type Request = ClusterRequest<VclusterSpec>;

/** Everything of it is written, as far as was seen a moment ago. */
interface ComingUp {
  /** What was asked for then. */
  asked: string;
  blueprint: Blueprint;
  service: KubeObject;
  statefulSet: KubeObject;
  at: number;
  /** Its pod runs: nobody but itself is asked. */
  running?: Parts;
}

interface Plan {
  phase: 'go';
  blueprint: Blueprint;
  claim: Claim;
}

export class VclusterProvisioner implements Provisioner<VclusterSpec> {
  readonly name = 'vcluster';
  readonly fidelity = 'virtual';
  readonly upgrades = 'in place';
  readonly scales = { never: 'its nodes are those of its host cluster' };
  readonly #clock: Clock;
  readonly #probe: HealthProbe;
  readonly #pollMs: number;
  readonly #hosts: Pick<HostClusters, 'of'>;
  readonly #comingUp = new Map<string, ComingUp>();

  constructor({ clock, probe = probeHealth, hosts, pollMs = 200 }: VclusterProvisionerOptions) {
    this.#clock = clock;
    this.#probe = probe;
    this.#pollMs = pollMs;
    this.#hosts = hosts ?? new HostClusters(clock);
  }

  async probe(): Promise<Availability> {
    const detail = `vcluster ${DEFAULT_VCLUSTER}, in any host cluster with a kubeconfig; no program is needed here`;
    return { isUsable: true, version: `v${DEFAULT_VCLUSTER}`, detail };
  }

  async resolve({ spec }: Ref): Promise<Resolution> {
    vclusterRelease(spec.vclusterVersion);
    checkedValues(spec.values ?? {});
    const version = kubernetesRelease(spec.kubernetesVersion);
    return { version, image: `${spec.images?.kubernetes ?? 'ghcr.io/loft-sh/kubernetes'}:${version}` };
  }

  ensure(request: Request, signal?: AbortSignal): Promise<Progress> {
    return answered(async () => {
      const { unfit } = (request.access ?? {}) as HostAccess;
      if (unfit) return unfitHost(unfit);
      const store = await this.#hosts.of(request);
      const wait = await this.#wait(store, request, signal);
      if (wait) return wait;
      const place = placeOf(request);
      const found = await survey(store, place, signal);
      if (found.foreign) return taken(found.foreign);
      if (found.namespace?.metadata.deletionTimestamp) return terminating(place.namespace);
      const plan = await this.#plan(store, request, found, signal);
      if (plan.phase === 'refused') return plan;
      if (!(await writeClaim(store, place, found, plan.claim, signal))) {
        return this.#working('Claiming', `namespace ${place.namespace} appeared just now`);
      }
      const applied = await applyObjects(store, plan.blueprint, { isThorough: request.initialized, signal });
      if ('foreign' in applied) return taken(applied.foreign);
      const { service, statefulSet } = applied;
      const at = this.#clock.now();
      const { blueprint } = plan;
      if (!request.initialized) {
        this.#comingUp.set(request.id, { asked: askedText(request), blueprint, service, statefulSet, at });
      }
      const progress = await this.#settle(store, request, blueprint, applied, signal);
      if (progress.phase !== 'working') this.#comingUp.delete(request.id);
      return progress;
    });
  }

  async observe(ref: Ref, signal?: AbortSignal): Promise<Observation> {
    try {
      const store = await this.#hosts.of(ref);
      const { id, name, namespace } = placeOf(ref);
      const { foreign, claim, service, statefulSet } = await survey(store, { id, name, namespace }, signal);
      if (foreign) return { phase: 'foreign', nodes: [], missing: [foreign] };
      if (!statefulSet) {
        return ownerOf(claim) === id
          ? { phase: 'creating', nodes: [], missing: ['there is no StatefulSet yet'] }
          : { phase: 'absent', nodes: [], missing: ['the host has nothing of it'] };
      }
      if (statefulSet.spec?.replicas === 0) return { phase: 'suspended', nodes: [], missing: ['it is scaled to 0'] };
      const [pod] = await ownPods(store, name, namespace, signal);
      return await look(store, { spec: ref.spec, place: ref.place, claim, service, pod }, this.#probe, signal);
    } catch (error) {
      throw hostError(error);
    }
  }

  async kubeconfig(ref: Ref, audience: 'external' | 'internal', signal?: AbortSignal): Promise<string> {
    try {
      const store = await this.#hosts.of(ref);
      const { spec } = ref;
      const place = placeOf(ref);
      const { service, claim } = await survey(store, place, signal);
      const [pod] = await ownPods(store, place.name, place.namespace, signal);
      const text = await readKubeconfig(store, { spec, claim, service, pod }, audience, signal);
      if (text) return text;
    } catch (error) {
      throw hostError(error);
    }
    throw new RookeryError('vcluster.kubeconfig', `${ref.name} has written no kubeconfig yet`, { class: 'retryable' });
  }

  suspend(ref: Ref, signal?: AbortSignal): Promise<Progress> {
    this.#comingUp.delete(ref.id);
    return answered(async () => {
      if (ref.spec.persistence?.enabled === false) return nothingKept(ref.name);
      return await suspendInHost(await this.#hosts.of(ref), placeOf(ref), this.#clock, signal);
    });
  }

  resume(request: Request, signal?: AbortSignal): Promise<Progress> {
    return this.ensure(request, signal);
  }

  /** The same objects with another version in them; the StatefulSet replaces its pod. */
  upgrade(request: Request, signal?: AbortSignal): Promise<Progress> {
    return this.ensure(request, signal);
  }

  async remove(ref: Ref, signal?: AbortSignal): Promise<Removal> {
    this.#comingUp.delete(ref.id);
    const { gone } = (ref.access ?? {}) as HostAccess;
    if (gone) {
      const message = `${gone}, and with it what was there of ${ref.name}`;
      return { isDone: true, removed: [], reason: 'HostGone', message };
    }
    try {
      return await removeFromHost(await this.#hosts.of(ref), placeOf(ref), this.#clock, signal);
    } catch (thrown) {
      const error = hostError(thrown);
      if (!(error instanceof RookeryError)) throw error;
      const next = `${error.hint ? `${error.hint}; ` : ''}tried again every 10 s`;
      const { message } = error;
      return { isDone: false, removed: [], reason: reasonOf(error), message, next, lookAgainMs: 10_000 };
    }
  }

  async inventory(known: readonly Ref[], signal?: AbortSignal): Promise<FoundThing<VclusterSpec>[]> {
    return await takeInventory(this.#hosts, known, signal);
  }

  /** Nothing to do but to wait for its pod; undefined when all of it has to be looked at. */
  async #wait(store: ObjectStore, request: Request, signal?: AbortSignal): Promise<Progress | undefined> {
    const seen = this.#comingUp.get(request.id);
    if (!seen || request.initialized || seen.asked !== askedText(request)) return undefined;
    if (this.#clock.now() - seen.at >= LOOK_AGE_MS) return undefined;
    const { blueprint, service, statefulSet, running } = seen;
    if (running) return await this.#judge(store, request, blueprint, running, signal);
    return await this.#settle(store, request, blueprint, { service, statefulSet, changed: [] }, signal);
  }

  async #plan(
    store: ObjectStore,
    { spec, resolved, ...ref }: Request,
    found: Survey,
    signal?: AbortSignal,
  ): Promise<Plan | (Progress & { phase: 'refused' })> {
    const place = placeOf({ ...ref, spec });
    const before = readClaim(found.claim);
    const kubernetesVersion = keptPatch(spec, before.kubernetesVersion, resolved.version);
    const vclusterVersion = vclusterRelease(spec.vclusterVersion ?? before.vclusterVersion);
    const why =
      whyNotUpgrade('Kubernetes', before.kubernetesVersion, kubernetesVersion) ??
      whyNotUpgrade('vcluster', before.vclusterVersion, vclusterVersion);
    if (why) return refusedUpgrade(why);
    const chosen = await chooseReach(store, spec, before.reach, signal);
    const reach = { ...chosen, nodePort: nodePortOf(found.service) ?? chosen.nodePort };
    const config = vclusterConfig({ spec, kubernetesVersion, vclusterVersion, addresses: reach.addresses });
    const blueprint: Blueprint = { ...place, config, kubernetesVersion, vclusterVersion, nodePort: reach.nodePort };
    const hasRun = before.kubernetesVersion ?? '';
    const claim = { vcluster: place.name, kubernetesVersion: hasRun, vclusterVersion, reach };
    return { phase: 'go', blueprint, claim };
  }

  /** Everything is written: does it run, and can it be used? */
  async #settle(
    store: ObjectStore,
    request: Request,
    blueprint: Blueprint,
    { service, statefulSet, changed }: Applied,
    signal?: AbortSignal,
  ): Promise<Progress> {
    const { name, namespace, kubernetesVersion } = blueprint;
    if (changed.length > 0) {
      const next = 'the host starts its control plane, then it is asked itself';
      return { ...this.#working('Applying', `written to the host: ${changed.join(', ')}`), next };
    }
    const pods = await ownPods(store, name, namespace, signal);
    const pod = pods.find((candidate) => !candidate.metadata.deletionTimestamp);
    if (!pod || !isPodReady(pod) || !(await this.#isRolledOut(store, blueprint, signal))) {
      const since = Date.parse((pod ?? statefulSet).metadata.creationTimestamp ?? '');
      const { isStuck, ...why } = await diagnose(store, blueprint, { pod, ageMs: this.#clock.now() - since }, signal);
      const phase = isStuck ? 'blocked' : 'working';
      const lookAgainMs = isStuck ? this.#pollMs * 4 : this.#pollMs;
      return { phase, since, usualMs: USUAL_MS, next: 'asked again until it runs', ...why, lookAgainMs };
    }
    const claim = await store.get(host.configMaps, { namespace, name: CLAIM }, { signal }).catch(ignoreNotFound);
    const { spec, place } = request;
    const parts: Parts = { spec, place, claim, service, pod, version: kubernetesVersion };
    parts.kubeconfig = await readKubeconfig(store, parts, 'external', signal);
    const seen = this.#comingUp.get(request.id);
    if (seen && parts.kubeconfig) seen.running = parts;
    return await this.#judge(store, request, blueprint, parts, signal);
  }

  /** The pod that runs is the one that was asked for last. */
  async #isRolledOut(store: ObjectStore, { namespace, name }: Blueprint, signal?: AbortSignal): Promise<boolean> {
    const found = await store.get(host.statefulSets, { namespace, name }, { signal }).catch(ignoreNotFound);
    if (!found) return false;
    const { metadata, status = {} } = found;
    if ((status.observedGeneration ?? 0) < (metadata.generation ?? 1)) return false;
    return status.updateRevision === undefined || status.currentRevision === status.updateRevision;
  }

  /** It runs: what does it say itself? */
  async #judge(
    store: ObjectStore,
    request: Request,
    blueprint: Blueprint,
    parts: Parts,
    signal?: AbortSignal,
  ): Promise<Progress> {
    const { claim } = parts;
    const pod = parts.pod as KubeObject;
    const { kubernetesVersion } = blueprint;
    const cluster = await look(store, parts, this.#probe, signal);
    if (cluster.phase === 'ready') {
      this.#comingUp.delete(request.id);
      if (claim) await changeClaim(store, claim, { kubernetesVersion }, signal);
      return { phase: 'ready', reason: 'Ready', message: '', cluster, lookAgainMs: RECHECK_MS };
    }
    const isRestarted = await this.#restartForKubeconfig(store, blueprint, pod, signal);
    return {
      phase: request.initialized ? 'blocked' : 'working',
      reason: request.initialized ? 'Degraded' : 'WaitingForReady',
      message: cluster.missing.join('; '),
      since: Date.parse(pod.metadata.creationTimestamp ?? ''),
      usualMs: USUAL_MS,
      next: isRestarted
        ? 'it is started again, for it writes its kubeconfig only then'
        : 'asked again until the cluster says it is ready',
      lookAgainMs: request.initialized ? this.#pollMs * 4 : this.#pollMs,
      cluster,
    };
  }

  async #restartForKubeconfig(
    store: ObjectStore,
    { name, namespace }: Blueprint,
    pod: KubeObject,
    signal?: AbortSignal,
  ) {
    const ready = pod.status?.conditions?.find((condition: { type: string }) => condition.type === 'Ready');
    if (this.#clock.now() - Date.parse(ready?.lastTransitionTime) < KUBECONFIG_MS) return false;
    const key = { namespace, name: `vc-${name}` };
    if (await store.get(host.secrets, key, { signal }).catch(ignoreNotFound)) return false;
    await store.delete(host.pods, keyOf(pod), { signal }).catch(ignoreNotFound);
    return true;
  }

  #working(reason: string, message: string): Progress {
    return { phase: 'working', reason, message, usualMs: USUAL_MS, lookAgainMs: this.#pollMs };
  }
}

const askedText = ({ spec, resolved }: Request): string => JSON.stringify([spec, resolved]);

/** Who asked for a minor is content with any patch of it: one that is there already never goes back. */
function keptPatch(spec: VclusterSpec, running: string | undefined, resolved: string | undefined): string {
  const wanted = resolved ?? kubernetesRelease(spec.kubernetesVersion);
  const isExact = (spec.kubernetesVersion ?? '').split('.').length > 2;
  const [now, next] = [findVersion(running ?? ''), findVersion(wanted)] as [Version | undefined, Version];
  if (isExact || !running || !now || now[1] !== next[1]) return wanted;
  return compareVersions(now, next) > 0 ? running : wanted;
}

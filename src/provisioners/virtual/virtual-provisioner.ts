/**
 * Virtual clusters behind the provisioners' contract: tenants of an embedded API server with simulated nodes. Nothing runs outside this
 * process, so every call finishes what it begins, and there is nothing to look at again.
 */
import type { VirtualCluster } from '../../api/infrastructure/virtual-cluster.ts';
import { VERSION } from '../../apiserver/index.ts';
import { RookeryError } from '../../errors.ts';
import { findVersion, matches, parseWanted, type Version } from '../../tools/versions.ts';
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
import type { StorageAmounts, TenantShape, Tenants } from './tenants.ts';

type VirtualSpec = VirtualCluster['spec'];

/** What a cluster has that does not say; the schema tells users the same. */
const DEFAULT_SHAPE: TenantShape = { controlPlanes: 0, nodes: 2 };
const KUBERNETES_VERSION = VERSION.gitVersion.split('+', 1)[0] as string;
const RETRY_MS = 5000;

export class VirtualProvisioner implements Provisioner<VirtualSpec> {
  readonly name = 'virtual';
  readonly fidelity = 'simulated';
  /** There is one version at a time, and a newer Rookery brings the newer one to all tenants. */
  readonly upgrades = 'in place';
  readonly scales = 'in place';
  readonly #served: Tenants | undefined;

  constructor(tenants?: Tenants) {
    this.#served = tenants;
  }

  async probe(): Promise<Availability> {
    return { isUsable: true, version: KUBERNETES_VERSION, detail: 'always: tenants of the control plane itself' };
  }

  async resolve({ spec }: ClusterRef<VirtualSpec>): Promise<Resolution> {
    const { kubernetesVersion } = spec ?? {};
    if (kubernetesVersion && !matches(findVersion(KUBERNETES_VERSION) as Version, parseWanted(kubernetesVersion))) {
      throw new RookeryError(
        'version.unavailable',
        `virtual clusters have Kubernetes ${KUBERNETES_VERSION}, not ${kubernetesVersion}`,
        {
          class: 'user',
          hint: 'leave kubernetesVersion out, or choose a provisioner that runs the real thing (`rookery provisioners`)',
        },
      );
    }
    return { version: KUBERNETES_VERSION, image: 'rookery' };
  }

  async ensure(request: ClusterRequest<VirtualSpec>): Promise<Progress> {
    const { id, name, spec, initialized, decision } = request;
    return await this.#answered(async () => {
      if (await this.#isForeign(request)) return refused(name);
      await this.#tenants.ensure(name, id, shapeOf(spec), { wasReady: initialized, decision });
      const cluster = await this.observe(request);
      const refusal = refusedStorage(spec?.storage, this.#tenants.storageMax);
      return { phase: 'ready', reason: 'TenantServing', message: '', cluster, ...(refusal ? { refusal } : {}) };
    });
  }

  async observe(ref: ClusterRef<VirtualSpec>): Promise<Observation> {
    const { name } = ref;
    if (!this.#tenants.has(name)) return { phase: 'absent', nodes: [], missing: ['there is no such tenant'] };
    const damage = this.#tenants.damage(name);
    if (damage) return { phase: 'degraded', nodes: [], missing: [damage.message] };
    if (await this.#isForeign(ref)) return { phase: 'foreign', nodes: [], missing: [foreignText(name)] };
    if (!this.#tenants.isWhole(name)) return { phase: 'creating', nodes: [], missing: ['the tenant is half made'] };
    const { hostname, port } = new URL(this.#tenants.url(name));
    const isSuspended = this.#tenants.isSuspended(name);
    const storage = this.#tenants.storage(name);
    return {
      phase: isSuspended ? 'suspended' : 'ready',
      nodes: await this.#tenants.nodes(name),
      version: KUBERNETES_VERSION,
      missing: isSuspended ? ['it is suspended'] : [],
      endpoint: { host: hostname, port: Number(port) || 443 },
      ...(storage ? { storage } : {}),
    };
  }

  /** A virtual cluster has no network of its own: inside and outside are the same address. */
  async kubeconfig({ name }: ClusterRef<VirtualSpec>): Promise<string> {
    return await this.#tenants.kubeconfig(name);
  }

  async suspend(ref: ClusterRef<VirtualSpec>): Promise<Progress> {
    return await this.#answered(async () => {
      if (await this.#isForeign(ref)) return refused(ref.name);
      await this.#tenants.suspend(ref.name);
      const message = 'its API answers that it is suspended, its time stands still, and everything it stores is kept';
      const cluster = await this.observe(ref);
      return { phase: 'suspended', reason: 'Suspended', message, next: 'resume wakes it again', cluster };
    });
  }

  async resume(request: ClusterRequest<VirtualSpec>): Promise<Progress> {
    return await this.ensure(request);
  }

  async upgrade(request: ClusterRequest<VirtualSpec>): Promise<Progress> {
    return await this.ensure(request);
  }

  async snapshot(ref: ClusterRef<VirtualSpec>, name: string): Promise<boolean> {
    await this.#refuseForeign(ref);
    return await this.#tenants.snapshot(ref.name, name);
  }

  async restore(ref: ClusterRef<VirtualSpec>, name: string): Promise<boolean> {
    await this.#refuseForeign(ref);
    return await this.#tenants.restore(ref.name, name);
  }

  async remove(ref: ClusterRef<VirtualSpec>): Promise<Removal> {
    const nothing = (message: string): Removal => ({ isDone: true, removed: [], reason: 'NothingMade', message });
    if (!this.#tenants.has(ref.name)) return nothing('nothing was made, so nothing was removed');
    if (await this.#isForeign(ref)) return nothing(`${foreignText(ref.name)}; it was left alone`);
    await this.#tenants.remove(ref.name);
    return { isDone: true, removed: [`tenant ${ref.name}`], reason: 'Removed', message: 'its file is gone' };
  }

  async inventory(): Promise<FoundThing<VirtualSpec>[]> {
    const found: FoundThing<VirtualSpec>[] = [];
    for (const name of this.#tenants.names()) {
      const id = await this.#tenants.owner(name);
      if (id) found.push({ ref: { id, name, spec: {} }, what: `tenant ${name}` });
    }
    return found;
  }

  get #tenants(): Tenants {
    if (this.#served) return this.#served;
    const hint = 'start one with `rookery up`';
    throw new RookeryError('virtual.server', 'virtual clusters live in a control plane, and none is here', { hint });
  }

  /** A tenant without an owner was not made by this provisioner: it writes the owner down first. */
  async #isForeign({ id, name }: ClusterRef<VirtualSpec>): Promise<boolean> {
    return this.#tenants.has(name) && (await this.#tenants.owner(name)) !== id;
  }

  async #refuseForeign(ref: ClusterRef<VirtualSpec>): Promise<void> {
    if (await this.#isForeign(ref)) throw new RookeryError('virtual.foreign', foreignText(ref.name), { class: 'user' });
  }

  /** A full disk or a file that is in use passes by itself, or when somebody helps. */
  async #answered(work: () => Promise<Progress>): Promise<Progress> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RookeryError) || !error.retry) throw error;
      const next = `${error.hint ?? 'nothing needs to be done'}; tried again every ${RETRY_MS / 1000} s`;
      return { phase: 'blocked', reason: 'TenantFailed', message: error.message, next, lookAgainMs: RETRY_MS };
    }
  }
}

function shapeOf(spec: VirtualSpec): TenantShape {
  const { controlPlanes = DEFAULT_SHAPE.controlPlanes, nodes = DEFAULT_SHAPE.nodes, storage } = spec ?? {};
  return { controlPlanes, nodes, ...(storage ? { storage } : {}) };
}

/** The cluster goes on, with the most that is allowed. */
function refusedStorage(wanted: Partial<StorageAmounts> = {}, max: StorageAmounts): Progress['refusal'] {
  const over = (['bytes', 'objects'] as const).filter((what) => (wanted[what] ?? 0) > max[what]);
  if (over.length === 0) return undefined;
  const told = over.map((what) => `spec.storage.${what} is ${wanted[what]}, and at most ${max[what]} are allowed`);
  return {
    reason: 'StorageAboveMaximum',
    message: told.join('; '),
    next: 'ask for less; the operator of Rookery sets the maximum (ROOKERY_STORAGE_MAX_BYTES, ROOKERY_STORAGE_MAX_OBJECTS)',
  };
}

function foreignText(name: string): string {
  return `the tenant ${name} belongs to another object`;
}

function refused(name: string): Progress {
  return {
    phase: 'refused',
    reason: 'NameTaken',
    message: foreignText(name),
    next: 'choose another name, or delete the other one first',
    lookAgainMs: 10_000,
  };
}

/**
 * kind behind the contract of provisioners. kind makes clusters and hands out kubeconfigs; everything else is asked of Docker, by the ids of
 * the containers that carry our mark: kind has no list in JSON, no stop and start, and deletes whatever has the name. Each cluster has a
 * folder of its own: configuration, run, kubeconfig, mark.
 */
import { join } from 'node:path';
import { RookeryError } from '../../errors.ts';
import type { RunRequest } from '../../tools/background-run.ts';
import type { Container } from '../../tools/docker.ts';
import { answered } from '../docker-cluster/answers.ts';
import type { ClusterShape, ClusterTool } from '../docker-cluster/cluster-tool.ts';
import { ContainerProvisioner, type ContainerProvisionerOptions } from '../docker-cluster/container-provisioner.ts';
import type { ClusterRef, ClusterRequest, Progress } from '../provisioner.ts';
import { containerNames, fingerprint, internalServer, type KindSpec, kindConfig, shapeOf } from './config.ts';
import { meaningOf, stepOf } from './output.ts';
import { CLUSTER_LABEL, divide, markPath, ownerOf, roleOf } from './ownership.ts';
import { SharedNetwork } from './shared-network.ts';

export type KindProvisionerOptions = ContainerProvisionerOptions;

const kind: ClusterTool<KindSpec> = {
  name: 'kind',
  clusterLabel: CLUSTER_LABEL,
  deleteCommand: (cluster) => `kind delete cluster --name ${cluster}`,
  ownerOf,
  roleOf,
  divide,
  shapeOf,
  fingerprint,
  containerNames,
  internalServer,
  // Measured on two cores: 25 s for one node, more for each that joins.
  usualMs: (shape) =>
    25_000 + 12_000 * (shape.nodes - shape.controlPlanes) + 35_000 * Math.max(0, shape.controlPlanes - 1),
  stepOf,
  meaningOf,
};

export class KindProvisioner extends ContainerProvisioner<KindSpec> {
  override readonly scales = 'recreate';
  readonly #network: SharedNetwork;

  constructor(options: KindProvisionerOptions) {
    super(kind, options);
    this.#network = new SharedNetwork(this.docker, join(options.folder, 'network.json'));
  }

  override suspend(ref: ClusterRef<KindSpec>, signal?: AbortSignal): Promise<Progress> {
    return answered(async () => {
      const ours = await this.containersOf(ref, signal);
      const running = ours.filter((container) => container.state === 'running').map(({ id }) => id);
      const controlPlanes = ours.filter((container) => roleOf(container) === 'control-plane').length;
      if (controlPlanes > 1 && running.length > 0) {
        const message = `${ref.name} has ${controlPlanes} control planes: their etcd members know each other by address, and Docker may give them others at the next start`;
        const next = 'the cluster goes on; take the annotation back, or make a cluster with one control plane';
        return { phase: 'refused', reason: 'CannotSuspend', message, next };
      }
      if (running.length > 0) await this.docker.stop(running, signal);
      const message = `${ours.length} containers are stopped; their disks are kept`;
      return { phase: 'suspended', reason: 'Suspended', message, next: 'resume starts them again' };
    });
  }

  protected override async beforeCreate(_request: ClusterRequest<KindSpec>, signal?: AbortSignal): Promise<undefined> {
    await this.#network.beforeCreate(signal);
  }

  protected override async createRun(request: ClusterRequest<KindSpec>): Promise<Pick<RunRequest, 'args' | 'env'>> {
    const { id, name, spec, resolved } = request;
    const mark = { hostPath: await this.files.folder(id, 'owner'), containerPath: markPath(id) };
    await this.files.drop(id, 'kubeconfig.lock');
    await this.files.write(id, 'kind.json', kindConfig(spec, { name, image: resolved.image, mark }));
    const files = ['--config', this.files.path(id, 'kind.json'), '--kubeconfig', this.files.path(id, 'kubeconfig')];
    const args = ['create', 'cluster', '--name', name, ...files];
    // The flag overrules the images of single nodes, so it is left out where there are some.
    if (!spec.nodes?.some((node) => node.image)) args.push('--image', resolved.image);
    return { args, env: this.#env(id) };
  }

  protected override async fetchKubeconfig(ref: ClusterRef<KindSpec>, signal?: AbortSignal): Promise<string> {
    const { path } = await this.program(signal);
    const args = ['get', 'kubeconfig', '--name', ref.name];
    const { code, stdout, stderr } = await this.options.processes.run(path, args, { env: this.#env(ref.id), signal });
    if (code === 0) return stdout;
    throw new RookeryError('kind.kubeconfig', `kind gave no kubeconfig: ${stderr.trim()}`, { class: 'retryable' });
  }

  protected override async mend(
    _request: ClusterRequest<KindSpec>,
    containers: Container[],
    _shape: ClusterShape,
    signal?: AbortSignal,
  ): Promise<Progress | undefined> {
    await this.#network.afterCreate(signal);
    const stopped = containers.filter((container) => container.state !== 'running');
    if (stopped.length === 0) return undefined;
    const names = stopped.map(({ name }) => name).join(', ');
    await this.docker.start(
      stopped.map(({ id }) => id),
      signal,
    );
    const message = `stopped containers were started again: ${names}`;
    const { pollMs } = this.options;
    return { phase: 'working', reason: 'Starting', message, step: `Starting ${names}`, lookAgainMs: pollMs };
  }

  protected override marksOf(ref: ClusterRef<KindSpec>): string[] {
    return ['--volume', `${this.files.path(ref.id, 'owner')}:${markPath(ref.id)}:ro`];
  }

  protected override async removeRest(ref: ClusterRef<KindSpec>, signal?: AbortSignal): Promise<{ removed: string[] }> {
    this.creating.delete(ref.id);
    return { removed: this.creating.size === 0 ? await this.#network.remove(signal) : [] };
  }

  /** kind takes more than flags from its environment, and must never touch the user's own kubeconfig; tools replace such a file, so it is no device. */
  #env(id: string): Record<string, string> {
    const unused = this.files.path(id, 'unused.kubeconfig');
    return { KIND_EXPERIMENTAL_PROVIDER: 'docker', KIND_CLUSTER_NAME: '', KUBECONFIG: unused };
  }
}

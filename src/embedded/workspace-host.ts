/** What workspaces on this machine are made with: its shells, its ways to make clusters, and where their terminals are served. */
import { homedir } from 'node:os';
import type { KubeObject } from '../api/object.ts';
import type { Clock } from '../clock.ts';
import type { WorkspaceParts } from '../controllers/workspace/index.ts';
import { sharedKey, sharedUser } from '../controllers/workspace/shared-cluster.ts';
import { RookeryError } from '../errors.ts';
import type { Provisioner } from '../provisioners/provisioner.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import type { Processes } from '../tools/processes.ts';
import { DockerWorkload } from '../workloads/docker/docker-workload.ts';
import { ProcessWorkload } from '../workloads/process/process-workload.ts';
import type { Workload } from '../workloads/workload.ts';
import type { Home } from './home.ts';

export interface Terminals {
  urlOf(namespace: string, name: string): string;
  end(id: string): void;
  close(): Promise<void>;
}

export interface WorkspaceHostOptions {
  home: Home;
  clock: Clock;
  processes: Processes;
  /** Where the API server of this process is found: the one service of this machine that shells reach. */
  apiServer: string;
  // biome-ignore lint/suspicious/noExplicitAny: each way has a spec of its own.
  open(way: ClusterWay): Promise<Provisioner<any>>;
  /** When one of its users, or anybody, last asked a tenant of this process something; undefined since it started. */
  lastCallAt(tenant: string, user?: string): number | undefined;
}

/** Real clusters first. A simulated one is taken only where nobody asked for a real one and none can be had. */
const AUTO = ['k3d', 'kind'];
const CHOICE_AGE_MS = 60_000;

export class WorkspaceHost {
  readonly #options: WorkspaceHostOptions;
  readonly #process: Workload;
  readonly #docker: Workload;
  readonly #startedAt: number;
  #chosen: { way: Promise<ClusterWay>; at: number } | undefined;

  constructor(options: WorkspaceHostOptions) {
    this.#options = options;
    const { home, processes, clock, apiServer } = options;
    this.#startedAt = clock.now();
    this.#process = new ProcessWorkload({
      processes,
      clock,
      apiServer,
      folder: home.workspaces('process'),
      // Of whoever runs this: keys, credentials of clouds and clusters, sockets of agents.
      hidden: [home.path, '/root', homedir(), '/run/user'].filter((folder) => folder !== '/'),
    });
    this.#docker = new DockerWorkload({ processes, clock, folder: home.workspaces('docker') });
  }

  get workloads(): readonly Workload[] {
    return [this.#process, this.#docker];
  }

  workload(name: string): Workload | undefined {
    return this.workloads.find((workload) => workload.name === name);
  }

  parts(terminals: Terminals | undefined): Omit<WorkspaceParts, 'host'> {
    return {
      chooseWay: (wanted) => this.#chooseWay(wanted),
      open: (way) => this.#options.open(way),
      lastCallAt: (way, instance, isShared) => this.#lastCallAt(way, instance, isShared),
      workloads: this.workloads,
      chooseWorkload: (way) => this.#chooseWorkload(way),
      terminalUrl: (namespace, name) => terminals?.urlOf(namespace, name),
      endTerminal: (id) => terminals?.end(id),
    };
  }

  /** Only tenants are asked through this process. Who asked before it started is not known: nobody is taken for idle because of that. */
  #lastCallAt(way: ClusterWay, instance: KubeObject, isShared: boolean): number | undefined {
    if (way.fidelity !== 'simulated') return undefined;
    const { namespace, name } = isShared
      ? sharedKey(instance)
      : (instance.metadata as { namespace: string; name: string });
    const at = this.#options.lastCallAt(tenantName(namespace, name), isShared ? sharedUser(instance) : undefined);
    return at ?? this.#startedAt;
  }

  /** Beside containers, a container: it reaches them. Otherwise a shell here, which reaches what is served here and needs no image. */
  async #chooseWorkload(way: ClusterWay | undefined): Promise<Workload> {
    return way?.network ? this.#docker : this.#process;
  }

  async #chooseWay(wanted: string): Promise<ClusterWay> {
    if (wanted !== 'auto') return named(wanted);
    const now = this.#options.clock.now();
    if (!this.#chosen || now - this.#chosen.at > CHOICE_AGE_MS) this.#chosen = { way: this.#auto(), at: now };
    return await this.#chosen.way;
  }

  async #auto(): Promise<ClusterWay> {
    for (const name of AUTO.filter((each) => clusterWays.some((way) => way.name === each))) {
      const way = named(name);
      if ((await (await this.#options.open(way)).probe()).isUsable) return way;
    }
    return named('virtual');
  }
}

function named(name: string): ClusterWay {
  const way = clusterWays.find((each) => each.name === name);
  if (way) return way;
  throw new RookeryError('workspace.provisioner', `there is no provisioner ${JSON.stringify(name)}`, { class: 'user' });
}

/** The sandboxes of all workspaces on this machine: what a command of one is started with, and the network that all commands of one share. */
import { lstat, realpath } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Limits } from '../../privileged/control-groups.ts';
import type { Privileged } from '../../privileged/privileged.ts';
import type { Processes } from '../../tools/processes.ts';
import { type Containment, findContainment } from './containment.ts';
import type { Destination } from './network/destination.ts';
import { WorkspaceNetwork } from './network/workspace-network.ts';
import { INSIDE, INSIDE_BIN, type SandboxCommand, type ShellNetwork, sandboxed } from './sandbox.ts';

export interface SandboxesOptions {
  processes: Processes;
  privileged: Privileged;
  /** Has a folder for each workspace; its home is in it. */
  folder: string;
  hidden: readonly string[];
  /** Nothing is made for a workspace that is stopped. */
  refuseStopped(id: string): void;
  /** Told what happened to a workspace. */
  tell(id: string, text: string): void;
}

export interface SandboxSettings {
  /** Of the command, besides what all have. */
  env: Record<string, string>;
  limits: Limits;
  destinations: readonly Destination[];
}

export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #networks = new Map<string, WorkspaceNetwork>();
  #containment: Promise<Containment> | undefined;
  #kubectl: Promise<string | undefined> | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  containment(): Promise<Containment> {
    const { processes, privileged } = this.#options;
    this.#containment ??= findContainment(processes, privileged);
    return this.#containment;
  }

  /** `network`: the one of the workspace, or none for what needs none. */
  async command(
    id: string,
    settings: SandboxSettings,
    command: readonly string[],
    network: 'own' | 'none',
  ): Promise<SandboxCommand> {
    const { processes, privileged, hidden } = this.#options;
    this.#kubectl ??= findKubectl(processes.env.PATH);
    const [{ isolation, hasNetwork, filter }, kubectl] = await Promise.all([this.containment(), this.#kubectl]);
    const { groups } = await privileged.limit(id, settings.limits);
    const home = this.#path(id, 'home');
    const tools = kubectl && (isolation === 'none' ? dirname(kubectl) : INSIDE_BIN);
    return sandboxed({
      isolation,
      home,
      hidden,
      kubectl,
      filter,
      cgroups: groups,
      user: privileged.shellUser(id),
      network: hasNetwork ? await this.#networkFor(id, settings.destinations, network) : undefined,
      env: { ...environment(isolation === 'none' ? home : INSIDE, tools), ...settings.env },
      command,
    });
  }

  /** What a workspace in use may reach, from now on. */
  async allow(id: string, destinations: readonly Destination[]): Promise<void> {
    await this.#networks.get(id)?.allow(destinations);
  }

  /** No process of it is left afterwards, and no network. */
  async end(id: string): Promise<void> {
    const network = this.#networks.get(id);
    this.#networks.delete(id);
    await network?.close();
    await this.#options.privileged.endLimits(id);
  }

  async #networkFor(id: string, destinations: readonly Destination[], kind: 'own' | 'none'): Promise<ShellNetwork> {
    if (kind === 'none') return 'none';
    const files = this.#path(id, 'etc');
    const { isolation } = await this.containment();
    const { processes, tell, refuseStopped } = this.#options;
    const env = { PATH: processes.env.PATH ?? '' };
    const inUserNamespace = isolation === 'user';
    // From here to where it is known nothing is waited for: it is either refused, or ended with the workspace.
    refuseStopped(id);
    const network =
      this.#networks.get(id) ??
      new WorkspaceNetwork({ folder: files, inUserNamespace, env, tell: (text) => tell(id, text) });
    this.#networks.set(id, network);
    await network.allow(destinations);
    return { entry: network.entry, files };
  }

  #path(...parts: string[]): string {
    return join(this.#options.folder, ...parts);
  }
}

function environment(home: string, tools: string | undefined): Record<string, string> {
  return {
    HOME: home,
    KUBECONFIG: `${home}/.kube/config`,
    PATH: [tools, '/usr/local/bin', '/usr/bin', '/bin'].filter(Boolean).join(delimiter),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    USER: 'student',
  };
}

async function findKubectl(path = ''): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, 'kubectl');
    if (await lstat(file).catch(() => undefined)) return await realpath(file);
  }
  return undefined;
}

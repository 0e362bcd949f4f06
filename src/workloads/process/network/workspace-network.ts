/**
 * The network of one workspace: a namespace of its own with nothing in it but a loopback device. Its shells and checks share it, and no other workspace
 * does. What it may reach outside (its cluster, name servers, what its template allows) has the same address inside, where this process listens and takes
 * each connection on: kubeconfigs and certificates need no change.
 */
import { type FileHandle, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RookeryError } from '../../../errors.ts';
import { AddressBook, type Destination } from './destination.ts';
import { DNS_PORT, nameServers, relayDns } from './dns-relay.ts';
import { type Door, type OpenDoor, openDoors } from './open-doors.ts';
import { relayTcp } from './tcp-relay.ts';

export interface WorkspaceNetworkOptions {
  /** `hosts` and `resolv.conf` for the sandbox are written here. */
  folder: string;
  /** Without root, the namespace belongs to a user namespace. */
  inUserNamespace: boolean;
  env: Record<string, string>;
  /** Told what cannot be reached, and why. */
  tell(text: string): void;
}

interface Wanted {
  door: Door;
  serve(door: OpenDoor): () => void;
}

const RESOLVER = '127.0.0.1';

export class WorkspaceNetwork {
  readonly #options: WorkspaceNetworkOptions;
  readonly #addresses = new AddressBook();
  /** How to close what is open, by what it is. */
  readonly #open = new Map<string, () => void>();
  #namespaces: { user?: FileHandle; net: FileHandle } | undefined;
  #isClosed = false;
  #working: Promise<void> = Promise.resolve();

  constructor(options: WorkspaceNetworkOptions) {
    this.#options = options;
  }

  /** Makes the network where there is none, and what can be reached from it exactly this. */
  allow(destinations: readonly Destination[]): Promise<void> {
    const work = this.#working.then(() => this.#allow(destinations));
    this.#working = work.catch(() => {});
    return work;
  }

  /** What enters it, put before a command. */
  get entry(): string[] {
    if (!this.#namespaces) {
      throw new RookeryError('workspace.not-running', 'the workspace is stopped', { class: 'retryable' });
    }
    const { user, net } = this.#namespaces;
    const path = ({ fd }: FileHandle) => `/proc/${process.pid}/fd/${fd}`;
    const owner = user ? ['--preserve-credentials', `--user=${path(user)}`] : [];
    return ['nsenter', ...owner, `--net=${path(net)}`, '--'];
  }

  /** Once the last process in it has ended, the kernel removes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
    for (const close of this.#open.values()) close();
    this.#open.clear();
    await this.#namespaces?.net.close();
    await this.#namespaces?.user?.close();
    this.#namespaces = undefined;
  }

  async #allow(destinations: readonly Destination[]): Promise<void> {
    if (this.#isClosed) return;
    const wanted = new Map([...this.#names(), ...destinations.map((each) => this.#way(each))]);
    for (const [key, close] of this.#open) {
      if (wanted.has(key)) continue;
      close();
      this.#open.delete(key);
    }
    await this.#writeFiles();
    const missing = [...wanted].filter(([key]) => !this.#open.has(key));
    if (missing.length === 0 && this.#namespaces) return;
    const doors = await openDoors(
      this.#enter(),
      missing.map(([, { door }]) => door),
      this.#options.env,
      (pid) => this.#hold(pid),
    );
    for (const [index, [key, { serve }]] of missing.entries()) {
      const door = doors[index] as OpenDoor;
      if ('error' in door) this.#options.tell(`${key} cannot be reached from the workspace: ${door.error}`);
      else this.#open.set(key, serve(door));
    }
  }

  #names(): [string, Wanted][] {
    const servers = nameServers();
    const [first] = servers;
    if (!first) return [];
    const door = (protocol: Door['protocol']): Door => ({ protocol, address: RESOLVER, port: DNS_PORT });
    const udp = (opened: OpenDoor) => relayDns((opened as Extract<OpenDoor, { socket: unknown }>).socket, servers);
    return [
      ['name servers (UDP)', { door: door('udp'), serve: udp }],
      ['name servers (TCP)', { door: door('tcp'), serve: serveTcp(first) }],
    ];
  }

  #way(destination: Destination): [string, Wanted] {
    const { host, port } = destination;
    const door: Door = { protocol: 'tcp', address: this.#addresses.addressOf(host), port };
    return [`${host}:${port}`, { door, serve: serveTcp(destination) }];
  }

  #enter(): string[] {
    if (this.#namespaces) return this.entry;
    const owner = this.#options.inUserNamespace ? ['--user', '--map-root-user'] : [];
    return ['unshare', ...owner, '--net', '--'];
  }

  async #hold(pid: number): Promise<void> {
    if (this.#namespaces) return;
    const net = await open(`/proc/${pid}/ns/net`);
    const user = this.#options.inUserNamespace ? await open(`/proc/${pid}/ns/user`) : undefined;
    this.#namespaces = { user, net };
  }

  /** In place: running shells see what changes. */
  async #writeFiles(): Promise<void> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await writeFile(join(folder, 'hosts'), this.#addresses.hosts());
    await writeFile(join(folder, 'resolv.conf'), `nameserver ${RESOLVER}\n`);
  }
}

function serveTcp(destination: Destination) {
  return (opened: OpenDoor) => relayTcp((opened as Extract<OpenDoor, { server: unknown }>).server, destination);
}

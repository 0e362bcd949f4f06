/**
 * What of a spec reaches the machine Rookery runs on, or machines it can log in to. Each use is a permission of its own: the verb `use` on
 * `hosts.rookery.dev`, with the capability as the name of the resource.
 *
 * - `containers`: containers on this machine's Docker engine. Nodes are privileged: an administrator of such a cluster can become root on the machine.
 * - `machine`: programs and services on this machine itself.
 * - `ssh`: other machines, reached from this one.
 * - `paths`: files and folders of this machine: mounts, programs, archives.
 * - `ports`: ports of this machine below 1024, or open to other machines.
 */
export const HOST_CAPABILITIES = ['containers', 'machine', 'ssh', 'paths', 'ports'] as const;
export type HostCapability = (typeof HOST_CAPABILITIES)[number];

export interface HostUse {
  capability: HostCapability;
  /** `spec.nodes[0].extraMounts[0].hostPath`. */
  field: string;
  /** What the field says; with the same value a use is not asked about again. */
  value?: unknown;
  /** A path of this machine, which must lie in a folder that may be used. */
  path?: string;
}

const FIRST_FREE_PORT = 1024;

/** A port published on this machine; undefined while it is an ordinary one on loopback. `anywhere`: without an address it is open to all. */
export function portUse(
  field: string,
  { port = 0, address, anywhere }: { port?: number; address?: string; anywhere: boolean },
): HostUse | undefined {
  const isOpen = address ? !/^(127\.|::1$|localhost$)/.test(address) : anywhere;
  const isReserved = port > 0 && port < FIRST_FREE_PORT;
  return isOpen || isReserved ? { capability: 'ports', field, value: `${address ?? ''}:${port}` } : undefined;
}

export function pathUse(field: string, path: string): HostUse {
  return { capability: 'paths', field, value: path, path };
}

export function present(uses: readonly (HostUse | undefined)[]): HostUse[] {
  return uses.filter((use): use is HostUse => use !== undefined);
}

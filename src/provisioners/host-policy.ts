/** What may be done with the machine Rookery runs on, as the person who started it decided. */
import type { HostFolders } from '../machines/host-folders.ts';

export interface HostPolicy {
  /** Namespaces whose users are trusted with this machine. */
  allows(namespace: string): boolean;
  /**
   * Whether the API server asks who creates an object that uses this machine (the admission of the embedded server does). Where it does not, such
   * objects work in the namespaces that `allows` names, and nowhere else.
   */
  hasAdmission: boolean;
  /** Folders that clusters may be given. */
  folders: HostFolders;
}

/** For `allows`: names, or `*` for every namespace. */
export function namespacesNamed(names: readonly string[]): HostPolicy['allows'] {
  const known = new Set(names);
  return known.has('*') ? () => true : (namespace) => known.has(namespace);
}

import type { Config } from '../config.ts';
import { HostFolders } from '../machines/host-folders.ts';
import { type HostPolicy, namespacesNamed } from '../provisioners/host-policy.ts';
import { isReachedFromElsewhere } from './embedded-server.ts';

/** Users of a server that only this machine reaches can call its addresses themselves. */
export function embeddedHostPolicy(config: Config): HostPolicy {
  return {
    hasAdmission: true,
    allows: isReachedFromElsewhere({ config }) ? namespacesNamed(config.hostNamespaces) : () => true,
    folders: new HostFolders(config.hostFolders, config.home),
  };
}

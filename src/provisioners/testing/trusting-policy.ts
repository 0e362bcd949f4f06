import { HostFolders } from '../../machines/host-folders.ts';
import type { HostPolicy } from '../host-policy.ts';

/** Everything is allowed, as on a laptop where all users are its owner. */
export const trustingPolicy: HostPolicy = {
  hasAdmission: true,
  allows: () => true,
  folders: new HostFolders(['/']),
};

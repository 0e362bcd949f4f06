/** What Rookery can and cannot do as the user it runs as, for `rookery doctor`. */
import type { Check } from '../tools/host-checks.ts';
import type { Privileged } from './privileged.ts';

const NEEDS_ROOT =
  'limits of CPU, memory, processes and disk for workspace shells, a user number for each of them, and k3s on this machine';

export function checkPrivileges({ refusal }: Privileged): Check {
  const detail = refusal
    ? `an ordinary user, as recommended; only root has: ${NEEDS_ROOT}`
    : `root, which is needed only for: ${NEEDS_ROOT}`;
  return { name: 'user', state: 'ok', detail, neededBy: [] };
}

/** How far workspace shells are kept apart on this machine, for `rookery doctor`. */
import type { Privileged } from '../../privileged/privileged.ts';
import type { Check } from '../../tools/host-checks.ts';
import type { Processes } from '../../tools/processes.ts';
import { findContainment } from './containment.ts';

export async function checkShells(processes: Processes, privileged: Privileged): Promise<Check[]> {
  const { isolation, gaps } = await findContainment(processes, privileged);
  const common = { name: 'workspace shells', neededBy: [] };
  if (gaps.length > 0) {
    return gaps.map(({ what, why, fix }) => ({ ...common, state: 'warn', detail: `${what}: ${why}`, fix }));
  }
  const how = isolation === 'root' ? 'namespaces' : 'user namespaces';
  return [{ ...common, state: 'ok', detail: `${how}, a network of their own, a filter of system calls` }];
}

/** Whether a MachineHealthCheck may act: many sick machines at once are more likely a sick network. */
import type { KubeObject } from '../../../api/object.ts';
import { TerminalError } from '../../../kube/index.ts';
import { scaled } from '../int-or-percent.ts';

export interface Allowance {
  isAllowed: boolean;
  /** How many more may become unhealthy. */
  left: number;
  /** Why not. */
  message: string;
}

export function allowance(check: KubeObject, total: number, healthy: number): Allowance {
  // One that has not started counts as much as one that is broken.
  const unhealthy = total - healthy;
  const { unhealthyInRange, unhealthyLessThanOrEqualTo = '100%' } = check.spec.remediation?.triggerIf ?? {};
  const counts = `total: ${total}, unhealthy: ${unhealthy}`;
  const refused = 'Remediation is not allowed, the number of not started or unhealthy machines';
  if (unhealthyInRange) {
    const [, from = '', to = ''] = /^\[(\d+)-(\d+)\]$/.exec(unhealthyInRange) ?? [];
    const [least, most] = [Number(from), Number(to)];
    if (!from || most < least) throw new TerminalError(`${unhealthyInRange} is no range such as [3-5]`);
    const message = `${refused} does not fall within the range (${counts}, unhealthyRange: ${unhealthyInRange})`;
    return { isAllowed: unhealthy >= least && unhealthy <= most, left: most - unhealthy, message };
  }
  const most = scaled(unhealthyLessThanOrEqualTo, total, 'down');
  const message = `${refused} exceeds maxUnhealthy (${counts}, maxUnhealthy: ${unhealthyLessThanOrEqualTo})`;
  return { isAllowed: unhealthy <= most, left: most - unhealthy, message };
}

/** Rookery runs as an ordinary user: what needs root is not done, and the answer says why. */
import { RookeryError } from '../errors.ts';
import type { Host } from '../machines/host.ts';
import type { Limited } from './control-groups.ts';
import type { Privileged } from './privileged.ts';

const REFUSAL = 'Rookery does not run as root';

export class WithoutRoot implements Privileged {
  readonly refusal = REFUSAL;

  shellUser(): undefined {}

  /** Shells run under the user of Rookery, whose it is already. */
  async giveFolder(): Promise<void> {}

  async limit(): Promise<Limited> {
    return { groups: [], why: REFUSAL };
  }

  async endLimits(): Promise<void> {}

  async sweepLimits(): Promise<void> {}

  async limitDisk(): Promise<string> {
    return REFUSAL;
  }

  machine(): Host {
    throw new RookeryError('host.not-root', `this machine cannot be changed: ${REFUSAL}`, {
      class: 'retryable',
      hint: 'run Rookery as root, or name another machine (host.ssh)',
    });
  }
}

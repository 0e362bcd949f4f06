// Calls a provisioner again and again, as a controller does, until things are settled.
import { expect } from 'vitest';
import { sleep, systemClock } from '../../../src/clock.ts';
import type {
  ClusterRef,
  ClusterRequest,
  Progress,
  Provisioner,
  Removal,
} from '../../../src/provisioners/provisioner.ts';

export interface Limits {
  /** How long a cluster may take. */
  patienceMs: number;
  /** No single call may take longer. */
  callMs: number;
}

export class Drive<Spec> {
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  async ready(wanted: ClusterRequest<Spec>, provisioner: Provisioner<Spec>): Promise<Progress> {
    return await this.#until('ready', wanted, () => provisioner.ensure(wanted));
  }

  async suspended(ref: ClusterRef<Spec>, provisioner: Provisioner<Spec>): Promise<void> {
    await this.#until('suspended', ref, () => provisioner.suspend(ref));
  }

  /** As the controller goes back: `resume` once, then `ensure`. */
  async resumed(wanted: ClusterRequest<Spec>, provisioner: Provisioner<Spec>): Promise<Progress> {
    await this.#timed(() => provisioner.resume(wanted));
    return await this.ready(wanted, provisioner);
  }

  async gone(ref: ClusterRef<Spec>, provisioner: Provisioner<Spec>): Promise<Removal & { all: string[] }> {
    const end = Date.now() + this.#limits.patienceMs;
    const all: string[] = [];
    for (;;) {
      const removal = await this.#timed(() => provisioner.remove(ref));
      all.push(...removal.removed);
      if (removal.isDone) return { ...removal, all };
      if (Date.now() > end) throw new Error(`${ref.name} does not go: ${JSON.stringify(removal, null, 2)}`);
      await sleep(systemClock, removal.lookAgainMs ?? 100);
    }
  }

  async #until(phase: Progress['phase'], ref: ClusterRef<Spec>, call: () => Promise<Progress>): Promise<Progress> {
    const end = Date.now() + this.#limits.patienceMs;
    for (;;) {
      const progress = await this.#timed(call);
      if (progress.phase === phase) return progress;
      if (progress.phase === 'refused' || Date.now() > end) {
        throw new Error(`${ref.name} does not get ${phase}: ${JSON.stringify(progress, null, 2)}`);
      }
      expect(progress.reason).toMatch(/^[A-Z][A-Za-z]+$/);
      expect(progress.message).not.toBe('');
      await sleep(systemClock, progress.lookAgainMs ?? 100);
    }
  }

  async #timed<T>(call: () => Promise<T>): Promise<T> {
    const started = Date.now();
    const answer = await call();
    expect(Date.now() - started, 'no call waits for the tool').toBeLessThan(this.#limits.callMs);
    return answer;
  }
}

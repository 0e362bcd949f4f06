/** Calls a provisioner again and again, as its controller does. */
import { sleep, systemClock } from '../../../clock.ts';
import type { ClusterRef, ClusterRequest, Progress, Provisioner } from '../../provisioner.ts';

export async function until<Spec>(
  provisioner: Provisioner<Spec>,
  phase: Progress['phase'],
  request: ClusterRequest<Spec>,
): Promise<Progress> {
  for (const end = Date.now() + 15_000; ; ) {
    const progress = await provisioner.ensure(request);
    if (progress.phase === phase) return progress;
    if (Date.now() > end) throw new Error(JSON.stringify(progress));
    await sleep(systemClock, 20);
  }
}

/** Everything that was removed. */
export async function gone<Spec>(provisioner: Provisioner<Spec>, ref: ClusterRef<Spec>): Promise<string[]> {
  const removed: string[] = [];
  for (;;) {
    const removal = await provisioner.remove(ref);
    removed.push(...removal.removed);
    if (removal.isDone) return removed;
    await sleep(systemClock, Math.min(200, removal.lookAgainMs ?? 0));
  }
}

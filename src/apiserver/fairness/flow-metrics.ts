/** Kubernetes' metrics of priority and fairness, with the cluster as one more label. Made when they are asked for. */
import { createMetrics } from '../../telemetry/metrics.ts';
import type { Level } from './level.ts';
import type { Tenant } from './tenant.ts';

const LABELS = ['cluster', 'priority_level'];

/** Of levels in which something happened since the start. */
export function flowMetrics(tenants: Iterable<Tenant>): string {
  const { counter, gauge, render } = createMetrics();
  const inQueue = gauge(name('current_inqueue_requests'), 'Requests that wait for a seat.', LABELS);
  const executing = gauge(name('current_executing_requests'), 'Requests that run.', LABELS);
  const seats = gauge(name('current_executing_seats'), 'Seats taken by requests that run.', LABELS);
  const nominal = gauge(name('nominal_limit_seats'), "A priority level's own seats.", LABELS);
  const dispatched = counter(name('dispatched_requests_total'), 'Requests that got a seat.', LABELS);
  const rejected = counter(name('rejected_requests_total'), 'Requests that got no seat.', [...LABELS, 'reason']);
  for (const tenant of tenants) {
    for (const level of tenant.levels) {
      if (!wasUsed(level)) continue;
      const labels = { cluster: tenant.name, priority_level: level.spec.name };
      inQueue.set(level.waiting, labels);
      executing.set(level.executing, labels);
      seats.set(level.running, labels);
      nominal.set(level.limits.nominal, labels);
      dispatched.inc(labels, level.dispatched);
      for (const [reason, count] of Object.entries(level.counts)) {
        if (count > 0) rejected.inc({ ...labels, reason }, count);
      }
    }
  }
  return render().body;
}

function name(rest: string): string {
  return `apiserver_flowcontrol_${rest}`;
}

function wasUsed({ dispatched, counts, waiting }: Level): boolean {
  return dispatched + waiting > 0 || Object.values(counts).some((count) => count > 0);
}

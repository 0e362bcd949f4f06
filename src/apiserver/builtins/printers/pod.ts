/** `kubectl get pods`: the STATUS column sums up phase, reasons and containers in the order upstream does. */
import { age } from '../duration.ts';
import { type Any, items } from '../fields.ts';
import { created, hasTrueCondition, printer } from './table.ts';

interface Summary {
  reason: string;
  ready: number;
  restarts: number;
  lastRestart: string;
}

function later(a: string, b: string | undefined): string {
  return b && (!a || Date.parse(b) > Date.parse(a)) ? b : a;
}

function terminatedReason(terminated: Any): string {
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`;
}

/** Walks init containers; says whether the pod is still initializing. */
function summarizeInit(pod: Any, summary: Summary): boolean {
  const specs = new Map(items(pod.spec?.initContainers).map((c) => [c.name, c]));
  const sidecar = (name: string) => specs.get(name)?.restartPolicy === 'Always';
  let sidecarRestarts = 0;
  let sidecarLast = '';
  let initializing = false;
  for (const [index, status] of items(pod.status?.initContainerStatuses).entries()) {
    const finished = status.lastState?.terminated?.finishedAt;
    summary.restarts += status.restartCount ?? 0;
    summary.lastRestart = later(summary.lastRestart, finished);
    if (sidecar(status.name)) {
      sidecarRestarts += status.restartCount ?? 0;
      sidecarLast = later(sidecarLast, finished);
    }
    const { terminated, waiting } = status.state ?? {};
    if (terminated && !terminated.exitCode) continue;
    if (sidecar(status.name) && status.started) {
      if (status.ready) summary.ready++;
      continue;
    }
    initializing = true;
    if (terminated) summary.reason = `Init:${terminatedReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') summary.reason = `Init:${waiting.reason}`;
    else summary.reason = `Init:${index}/${specs.size}`;
    break;
  }
  if (!initializing || hasTrueCondition(pod, 'Initialized')) {
    summary.restarts = sidecarRestarts;
    summary.lastRestart = sidecarLast;
    return false;
  }
  return true;
}

function summarizeContainers(pod: Any, summary: Summary): void {
  let running = false;
  let failure = '';
  for (const status of [...items(pod.status?.containerStatuses)].reverse()) {
    summary.restarts += status.restartCount ?? 0;
    summary.lastRestart = later(summary.lastRestart, status.lastState?.terminated?.finishedAt);
    const { terminated, waiting, running: isRunning } = status.state ?? {};
    if (waiting?.reason) summary.reason = waiting.reason;
    else if (terminated) {
      summary.reason = terminatedReason(terminated);
      if (terminated.exitCode) failure = summary.reason;
    } else if (status.ready && isRunning) {
      running = true;
      summary.ready++;
    }
  }
  if (summary.reason !== 'Completed') return;
  if (running && hasTrueCondition(pod, 'Ready')) summary.reason = 'Running';
  else if (failure) summary.reason = failure;
  else if (running) summary.reason = 'NotReady';
}

function summarize(pod: Any): Summary {
  const status = pod.status ?? {};
  const summary: Summary = { reason: status.reason || status.phase || '', ready: 0, restarts: 0, lastRestart: '' };
  for (const condition of items(status.conditions)) {
    if (condition.type === 'PodScheduled' && condition.reason === 'SchedulingGated') summary.reason = 'SchedulingGated';
  }
  if (!summarizeInit(pod, summary)) summarizeContainers(pod, summary);
  if (pod.metadata.deletionTimestamp) {
    if (status.reason === 'NodeLost') summary.reason = 'Unknown';
    else if (status.phase !== 'Succeeded' && status.phase !== 'Failed') summary.reason = 'Terminating';
  }
  return summary;
}

function readinessGates(pod: Any): string {
  const gates = items(pod.spec?.readinessGates);
  if (gates.length === 0) return '<none>';
  return `${gates.filter((gate) => hasTrueCondition(pod, gate.conditionType)).length}/${gates.length}`;
}

export const podPrinter = printer(
  'Name|Ready|Status|Restarts|Age|+IP|+Node|+Nominated Node|+Readiness Gates',
  (pod, now) => {
    const summary = summarize(pod);
    const sidecars = items(pod.spec?.initContainers).filter((c) => c.restartPolicy === 'Always').length;
    const total = items(pod.spec?.containers).length + sidecars;
    const restarts =
      summary.restarts !== 0 && summary.lastRestart
        ? `${summary.restarts} (${age(summary.lastRestart, now)} ago)`
        : `${summary.restarts}`;
    return [
      pod.metadata.name,
      `${summary.ready}/${total}`,
      summary.reason,
      restarts,
      created(pod, now),
      pod.status?.podIPs?.[0]?.ip || '<none>',
      pod.spec?.nodeName || '<none>',
      pod.status?.nominatedNodeName || '<none>',
      readinessGates(pod),
    ];
  },
);

/** What runs and waits in the priority levels of a cluster: for people, as kube-apiserver's debugging page shows it. */
import type { Level } from './level.ts';

type Column = [title: string, cell: (level: Level) => string | number | boolean];

const refused = ({ counts }: Level) => counts['queue-full'] + counts['concurrency-limit'];

const COLUMNS: Column[] = [
  ['PriorityLevelName', ({ spec }) => spec.name],
  ['ActiveQueues', ({ queues }) => [...queues].length],
  ['IsIdle', ({ executing, waiting }) => executing + waiting === 0],
  ['IsQuiescing', ({ isGone }) => isGone],
  ['WaitingRequests', ({ waiting }) => waiting],
  ['ExecutingRequests', ({ executing }) => executing],
  ['DispatchedRequests', ({ dispatched }) => dispatched],
  ['RejectedRequests', refused],
  ['TimedoutRequests', ({ counts }) => counts['time-out']],
  ['CancelledRequests', ({ counts }) => counts.cancelled],
];

export function dumpOf(levels: Iterable<Level>): string {
  const sorted = [...levels].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1));
  const lines = [
    COLUMNS.map(([title]) => title),
    ...sorted.map((level) => COLUMNS.map(([, cell]) => `${cell(level)}`)),
  ];
  const widths = COLUMNS.map((_, i) => Math.max(...lines.map((line) => (line[i] as string).length)) + 2);
  const row = (line: string[]) => line.map((cell, i) => `${cell},`.padEnd(widths[i] as number)).join('');
  return lines.map((line) => `${row(line).trimEnd().slice(0, -1)}\n`).join('');
}

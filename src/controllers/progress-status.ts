/** Where a provisioner stands, as status: conditions that say what blocks, since when and what happens next, and a bounded history. */
import type { KubeObject } from '../api/object.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import { removeCondition, setCondition } from '../kube/index.ts';
import type { Progress } from '../provisioners/provisioner.ts';
import { redactText } from '../telemetry/redact.ts';

const HISTORY_MAX = 50;
export const STALLED = 'Stalled';

interface HistoryEntry {
  timestamp: string;
  reason: string;
  message?: string;
}

/** Appends, newest last, unless the newest entry says the same already. */
export function remember(object: KubeObject, reason: string, message: string, clock: Clock): void {
  const history: HistoryEntry[] = object.status?.history ?? [];
  const last = history.at(-1);
  const text = redactText(message).slice(0, 4096);
  if (last?.reason === reason && (last.message ?? '') === text) return;
  const entry = { timestamp: rfc3339(clock.now()), reason, ...(text ? { message: text } : {}) };
  object.status = { ...object.status, history: [...history, entry].slice(-HISTORY_MAX) };
}

/** For people: what, since when, what is normal, the last output, what comes next. */
export function explain(progress: Progress): string {
  const { message, since, usualMs, output = [], next } = progress;
  const started = since === undefined ? '' : `Since ${rfc3339(since)}`;
  const usual = usualMs === undefined ? '' : `usually done in about ${Math.round(usualMs / 1000)} s`;
  const lines = [
    message,
    [started, usual].filter(Boolean).join(', '),
    output.length > 0 ? `Last output: ${output.join(' | ')}` : '',
    next ? `Next: ${next}` : '',
  ];
  return redactText(lines.filter(Boolean).join('\n')).slice(0, 8192);
}

/** As kstatus has it: waiting is of no use, a person has to act. */
export function reportStalled(object: KubeObject, refusal: NonNullable<Progress['refusal']>, clock: Clock): void {
  const message = explain({ ...refusal, phase: 'refused' });
  setCondition(object, { type: STALLED, status: 'True', reason: refusal.reason, message }, clock);
}

/** `Available` is what the ControlPlane contract of Cluster API reads, `Ready` what the InfraCluster contract does. */
export function reportProgress(object: KubeObject, progress: Progress, clock: Clock): void {
  const isReady = progress.phase === 'ready';
  const status = isReady ? 'True' : 'False';
  const message = isReady ? '' : explain(progress);
  for (const type of ['Available', 'Ready']) {
    setCondition(object, { type, status, reason: progress.reason, message }, clock);
  }
  const stalled = progress.phase === 'refused' ? progress : progress.refusal;
  if (stalled) reportStalled(object, stalled, clock);
  else removeCondition(object, STALLED);
  const output = progress.phase === 'blocked' && progress.output?.length ? `\n${progress.output.join('\n')}` : '';
  remember(object, progress.reason, (progress.step ?? progress.message) + output, clock);
}

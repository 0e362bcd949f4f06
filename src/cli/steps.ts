/** The way of a cluster as steps: from the history of the object that asks for it, and from its condition what the last one is doing. */
import pc from 'picocolors';
import type { KubeObject } from '../api/object.ts';
import { readExplanation } from '../diagnosis/explanation.ts';
import { getCondition } from '../kube/index.ts';

export interface Step {
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
  seconds: number;
  state: 'done' | 'now' | 'trouble';
  usualSeconds?: number;
  /** What the tool said last, and what comes next when there is trouble. */
  detail: string[];
}

interface HistoryEntry {
  timestamp: string;
  message?: string;
}

/** Steps begun at or after `from`; the last one goes on until `isOver`. */
export function stepsOf(object: KubeObject, from: number, now: number, isOver = false): Step[] {
  const history: HistoryEntry[] = object.status?.history ?? [];
  // Times in a history have whole seconds.
  const since = history.filter(({ timestamp }) => Date.parse(timestamp) >= Math.floor(from / 1000) * 1000);
  // The same in other words (how a connection failed this time) is the same step.
  const begun = since.filter((entry, i) => gist(entry) !== gist(since[i - 1]));
  return begun.flatMap(({ timestamp, message }, i) => {
    // What has nothing to say is the end: it is ready.
    if (!message) return [];
    const at = Date.parse(timestamp);
    const isLast = i === begun.length - 1;
    const end = isLast ? now : Date.parse(begun[i + 1]?.timestamp ?? '');
    const step: Step = {
      text: message.split('\n')[0] ?? '',
      at,
      seconds: Math.max(0, Math.round((end - at) / 1000)),
      // Only trouble is remembered with what a tool said.
      state: message.includes('\n') ? 'trouble' : 'done',
      detail: [],
    };
    return [isLast && !isOver ? { ...step, ...current(object, step.text) } : step];
  });
}

function gist(entry: HistoryEntry | undefined): string | undefined {
  return entry && (entry.message ?? '').replace(/ \(.*/s, '');
}

function current(object: KubeObject, text: string): Partial<Step> {
  const { usualSeconds, output, next, what } = readExplanation(getCondition(object, 'Ready')?.message ?? '');
  if (!object.status?.failureMessage) return { state: 'now', usualSeconds, detail: output.slice(-1) };
  const more = what === text ? [] : [what];
  return { state: 'trouble', detail: [...more, ...output.slice(-3), ...(next ? [`next: ${next}`] : [])] };
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** For a terminal: what is done, what is being done and for how long. */
export function treeOf(title: string, steps: readonly Step[], frame: number): string[] {
  const lines = steps.flatMap((step) => {
    const { text, seconds, usualSeconds, state } = step;
    const usual = state === 'now' && usualSeconds ? `, usually about ${usualSeconds} s` : '';
    const mark = { done: pc.green('✓'), now: pc.cyan(FRAMES[frame % FRAMES.length]), trouble: pc.yellow('!') }[state];
    const time = seconds > 0 || usual ? pc.dim(` ${seconds} s${usual}`) : '';
    return [`  ${mark} ${text}${time}`, ...step.detail.map((line) => pc.dim(`      ${line}`))];
  });
  return [title, ...lines];
}

/** For a log: a line for each step, told once. */
export function lineOf({ text, state, detail }: Step): string {
  return state === 'trouble' ? [`! ${text}`, ...detail.map((line) => `    ${line}`)].join('\n') : text;
}

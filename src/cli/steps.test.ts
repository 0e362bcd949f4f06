import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { reportProgress } from '../controllers/progress-status.ts';
import { lineOf, stepsOf, treeOf } from './steps.ts';

const start = Date.UTC(2026, 0, 1);
const clock = { at: start, now: () => clock.at, after: () => () => {} };
const plain = (lines: string[]) => lines.map((line) => stripVTControlCharacters(line));

function object() {
  clock.at = start;
  const made = { apiVersion: 'v1', kind: 'KINDCluster', metadata: { name: 'a' }, status: {} };
  const working = { phase: 'working' as const, reason: 'Creating', message: 'kind is making the cluster' };
  reportProgress(made, { ...working, step: 'Preparing nodes' }, clock);
  clock.at += 4000;
  reportProgress(made, { ...working, step: 'Starting', usualMs: 30_000, output: ['a', 'b'] }, clock);
  return made;
}

it('shows what is done and how long the current step takes', () => {
  const steps = stepsOf(object(), start, start + 10_000);
  expect(plain(treeOf('a (kind)', steps, 0))).toEqual([
    'a (kind)',
    '  ✓ Preparing nodes 4 s',
    '  ⠋ Starting 6 s, usually about 30 s',
    '      b',
  ]);
  expect(stepsOf(object(), start, start + 10_000, true).map((step) => step.state)).toEqual(['done', 'done']);
});

it('leaves out what was before', () => {
  expect(stepsOf(object(), start + 3500, start + 4000).map((step) => step.text)).toEqual(['Starting']);
});

it('says what is in the way and what comes next', () => {
  const made: ReturnType<typeof object> & { status: { failureMessage?: string } } = object();
  made.status.failureMessage = 'DiskFull: the disk is full';
  const progress = { reason: 'DiskFull', message: 'the disk is full', output: ['no space left'], next: 'tried again' };
  reportProgress(made, { phase: 'blocked', ...progress }, clock);
  const last = stepsOf(made, start, clock.at).at(-1);
  expect(last && lineOf(last)).toBe('! the disk is full\n    no space left\n    next: tried again');
  // And it stays visible as trouble when it is over.
  expect(stepsOf(made, start, clock.at, true).at(-1)).toMatchObject({ state: 'trouble', detail: [] });
});

it('tells the same in other words once', () => {
  const entry = (second: number, message: string) => ({
    timestamp: new Date(start + second * 1000).toISOString(),
    message,
  });
  const history = [
    entry(0, 'it does not answer (reset)'),
    entry(2, 'it does not answer (refused)'),
    entry(5, 'it is not ready (500)'),
  ];
  const made = { apiVersion: 'v1', kind: 'X', metadata: {}, status: { history } };
  expect(stepsOf(made, start, start + 6000, true)).toMatchObject([{ seconds: 5 }, { text: 'it is not ready (500)' }]);
});

import { expect, it } from 'vitest';
import { explain } from '../controllers/progress-status.ts';
import { readExplanation } from './explanation.ts';

it('reads back what conditions say', () => {
  const text = explain({
    phase: 'working',
    reason: 'Creating',
    message: 'kind is making the cluster',
    since: Date.UTC(2026, 0, 2, 3, 4, 5),
    usualMs: 60_000,
    output: ['one', 'two'],
    next: 'looked at again in 1 s',
  });
  expect(readExplanation(text)).toEqual({
    what: 'kind is making the cluster',
    since: '2026-01-02T03:04:05Z',
    usualSeconds: 60,
    output: ['one', 'two'],
    next: 'looked at again in 1 s',
  });
});

it('takes any other text as what is the matter', () => {
  expect(readExplanation('* InfrastructureReady: no\n* b: c')).toEqual({
    what: '* InfrastructureReady: no\n* b: c',
    output: [],
  });
});

import { afterEach, expect, it, vi } from 'vitest';
import { RookeryError } from '../errors.ts';
import { reportFailure } from './failure.ts';

const written: string[] = [];
vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
  written.push(String(text));
  return true;
});
afterEach(() => {
  written.length = 0;
});

it('says what the file system refuses as what it is, and only the rest is our mistake', () => {
  const refused = Object.assign(new Error("EACCES: permission denied, mkdir '/x'"), { code: 'EACCES' });
  expect(reportFailure(refused)).toBe(1);
  expect(written.join('')).toContain('--home');
  expect(written.join('')).not.toContain('bug');
  written.length = 0;
  expect(reportFailure(new TypeError('x is not a function'))).toBe(1);
  expect(written.join('')).toContain('this is a bug in rookery');
});

it('ends by class, and in JSON for programs', () => {
  const error = new RookeryError('a.b', 'no', { class: 'user', hint: 'yes' });
  expect(reportFailure(error, 'json')).toBe(2);
  expect(JSON.parse(written.join(''))).toEqual({ error: { code: 'a.b', message: 'no', hint: 'yes' } });
});

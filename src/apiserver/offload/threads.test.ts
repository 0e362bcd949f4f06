// Who gets a worker thread, and that work stops with its request.
import { expect, it } from 'vitest';
import type { Authorizer } from '../auth/identity.ts';
import { CLIENT_GONE, RequestScope } from '../request-scope.ts';
import { timeout } from '../status.ts';
import { NO_SUBJECT } from './offload.ts';
import { Threads } from './threads.ts';

function scopeOf(tenant: string, user: string): RequestScope {
  const scope = new RequestScope(tenant);
  scope.user = user;
  return scope;
}

/** A policy that asks so often who is allowed what. */
const asking = (times: number) => ({
  validations: Array.from({ length: times }, (_, i) => ({
    expression: `authorizer.group('').resource('pods').check('verb${i}').allowed()`,
  })),
});
const admission = { object: {}, identity: { user: 'u', groups: [] } };
const ALLOW: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) };

it('stops work when its request ends', { timeout: 100_000 }, async () => {
  const threads = new Threads();
  const scope = scopeOf('a', 'u');
  const reason = timeout('the deadline has passed');
  let asked = 0;
  const ending: Authorizer = {
    authorize() {
      if (++asked === 3) scope.end(reason);
      return { allowed: true, reason: '' };
    },
  };
  await expect(threads.do('policy', [asking(20), admission], scope, ending)).rejects.toBe(reason);
  // The tenant's thread is free for its next task, and nothing asks any more.
  const next = await threads.do('policy', [asking(2), admission], scopeOf('a', 'u'), ALLOW);
  expect(next.decisions).toHaveLength(2);
  expect(asked).toBe(3);
});

it('does not begin work whose request has ended', { timeout: 100_000 }, async () => {
  const threads = new Threads();
  const gone = scopeOf('a', 'u');
  const first = threads.do('policy', [asking(2), admission], scopeOf('a', 'u'), ALLOW);
  let asked = 0;
  const counting: Authorizer = { authorize: () => ({ allowed: ++asked > 0, reason: '' }) };
  const waiting = threads.do('policy', [asking(2), admission], gone, counting);
  gone.end(CLIENT_GONE);
  await expect(waiting).rejects.toBe(CLIENT_GONE);
  await expect(threads.do('policy', [asking(2), admission], gone, counting)).rejects.toBe(CLIENT_GONE);
  expect((await first).decisions).toHaveLength(2);
  expect(asked).toBe(0);
});

it('serves another user before the rest of what one user wants', { timeout: 100_000 }, async () => {
  const threads = new Threads();
  const finished: string[] = [];
  const want = async (user: string) => {
    await threads.do('yaml', [NO_SUBJECT, `- ${user}`, 200], scopeOf('a', user), undefined);
    finished.push(user);
  };
  await Promise.all([...Array.from({ length: 24 }, () => want('noisy')), want('quiet')]);
  expect(finished.indexOf('quiet')).toBeLessThan(3);
});

it('refuses what one user wants beyond measure', { timeout: 100_000 }, async () => {
  const threads = new Threads();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, () => threads.do('yaml', [NO_SUBJECT, 'a', 200], scopeOf('a', 'u'), undefined)),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(refused).toHaveLength(100 - 65);
  expect(refused[0]?.reason).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } });
});

it('fails as the main thread would', { timeout: 100_000 }, async () => {
  const threads = new Threads();
  const yaml = threads.do('yaml', [NO_SUBJECT, 'a: [1', 200], undefined, undefined);
  await expect(yaml).rejects.toMatchObject({ name: 'ApiError', code: 400, reason: 'BadRequest' });
});

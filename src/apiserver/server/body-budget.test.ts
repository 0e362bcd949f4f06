import { expect, it } from 'vitest';
import { CLIENT_GONE, RequestScope } from '../request-scope.ts';
import { BodyBudget } from './body-budget.ts';

const budget = () => new BodyBudget({ total: 100, tenant: 50, user: 20 });

function scopeOf(tenant: string, user: string): RequestScope {
  const scope = new RequestScope(tenant);
  scope.user = user;
  return scope;
}

it('counts what a user has at a time, until its requests end', () => {
  const bodies = budget();
  const first = scopeOf('a', 'u');
  bodies.take(first, 15);
  const second = scopeOf('a', 'u');
  expect(() => bodies.take(second, 10)).toThrow('request bodies of this user at once');
  bodies.take(second, 5);
  first.end(CLIENT_GONE);
  bodies.take(scopeOf('a', 'u'), 15);
  expect(() => bodies.take(scopeOf('a', 'u'), 1)).toThrow();
});

it('leaves room for other users, and for other tenants', () => {
  const bodies = budget();
  for (const user of ['u', 'v']) bodies.take(scopeOf('a', user), 20);
  expect(() => bodies.take(scopeOf('a', 'w'), 20)).toThrow('of this cluster at once');
  for (const user of ['u', 'v']) bodies.take(scopeOf('b', user), 20);
  bodies.take(scopeOf('c', 'u'), 20);
  expect(() => bodies.take(scopeOf('c', 'v'), 20)).toThrow('of all clients at once');
});

it('says when to come again', () => {
  const bodies = budget();
  expect(() => bodies.take(scopeOf('a', 'u'), 21)).toThrow(
    expect.objectContaining({ code: 429, details: { retryAfterSeconds: 1 } }),
  );
});

it('counts nothing of a request that has ended', () => {
  const bodies = budget();
  const scope = scopeOf('a', 'u');
  scope.end(CLIENT_GONE);
  bodies.take(scope, 20);
  bodies.take(scopeOf('a', 'u'), 20);
});

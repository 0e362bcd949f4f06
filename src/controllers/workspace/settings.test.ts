import { describe, expect, it } from 'vitest';
import { durationMs } from './duration.ts';
import { IDLE_AFTER_MS, lifetimeOf } from './lifetime.ts';
import { lockedFields, settingsOf } from './settings.ts';

const template = (defaults: object, overridePolicy?: object) => ({
  apiVersion: 'workshop.platform/v1alpha1',
  kind: 'WorkspaceTemplate',
  metadata: { name: 'k101' },
  spec: { defaults, ...(overridePolicy ? { overridePolicy } : {}) },
});
const instance = (overrides: object) => ({
  apiVersion: 'workshop.platform/v1alpha1',
  kind: 'WorkspaceInstance',
  metadata: { name: 'one', namespace: 'ws' },
  spec: { overrides },
});

describe('settings', () => {
  it('are the defaults of the template with what the instance overrides', () => {
    const defaults = {
      lifecycle: { mode: 'ephemeral', ttl: '2h', idleSuspend: true },
      cluster: { mode: 'per-workspace', version: '1.35' },
      resources: { cpu: '500m' },
    };
    const overrides = { lifecycle: { ttl: '4h' }, resources: { memory: '1Gi' }, access: { webTerminal: false } };
    expect(settingsOf(template(defaults), instance(overrides))).toEqual({
      mode: 'ephemeral',
      ttlMs: 4 * 3_600_000,
      idleSuspend: true,
      cluster: { mode: 'per-workspace', version: '1.35', provisioner: 'auto' },
      limits: { cpu: '500m', memory: '1Gi' },
      egress: [],
      webTerminal: false,
    });
    expect(settingsOf(template({}), instance({}))).toMatchObject({ mode: 'persistent', cluster: { mode: 'none' } });
  });

  it('let the template alone say what shells reach', () => {
    const egress = [{ host: 'pypi.org', port: 443 }];
    const reaching = { ...template({}), spec: { network: { egress } } };
    const greedy = instance({ network: { egress: [{ host: '127.0.0.1', port: 22 }] } });
    expect(settingsOf(reaching, greedy).egress).toEqual(egress);
  });

  it('refuse what the template locks, by field and rule', () => {
    const overrides = {
      lifecycle: { ttl: '3h', mode: 'persistent' },
      cluster: { mode: 'none' },
      resources: { cpu: '4' },
    };
    expect(lockedFields(template({}), instance(overrides)).map(({ field }) => field)).toEqual([
      'spec.overrides.lifecycle.mode',
      'spec.overrides.cluster.mode',
    ]);
    const policy = { allow: ['cluster.mode', 'lifecycle.mode'], deny: ['resources.cpu'], maxTTL: '2h30m' };
    expect(lockedFields(template({}, policy), instance(overrides))).toEqual([
      { field: 'spec.overrides.resources.cpu', rule: 'the template k101 denies it (overridePolicy.deny)' },
      {
        field: 'spec.overrides.lifecycle.ttl',
        rule: '3h is longer than 2h30m, the longest the template k101 allows (overridePolicy.maxTTL)',
      },
    ]);
  });
});

describe('lifetime', () => {
  const start = Date.UTC(2030, 0, 1);
  const startedAt = '2030-01-01T00:00:00Z';
  const settings = settingsOf(template({ lifecycle: { ttl: '1h', idleSuspend: true } }), instance({}));
  const at = (minutes: number, lastActivityAt?: string) =>
    lifetimeOf(settings, { startedAt, ...(lastActivityAt ? { lastActivityAt } : {}) }, start + minutes * 60_000);

  it('warns, ends, and says when to look again', () => {
    expect(at(0)).toEqual({
      expiresAt: '2030-01-01T01:00:00Z',
      isExpired: false,
      isExpiring: false,
      isIdle: false,
      lookAgainMs: IDLE_AFTER_MS,
    });
    expect(at(50, '2030-01-01T00:49:00Z')).toMatchObject({ isExpiring: true, isExpired: false, lookAgainMs: 600_000 });
    expect(at(60)).toMatchObject({ isExpired: true });
  });

  it('is idle without activity, and not with some', () => {
    expect(at(31)).toMatchObject({ isIdle: true });
    expect(at(31, '2030-01-01T00:20:00Z')).toMatchObject({ isIdle: false });
  });

  it('has no end without a ttl and does not begin before the start', () => {
    const endless = settingsOf(template({}), instance({}));
    expect(lifetimeOf(endless, { startedAt }, start + 1e12)).toEqual({
      isExpired: false,
      isExpiring: false,
      isIdle: false,
    });
    expect(lifetimeOf(settings, {}, start)).toMatchObject({ isExpired: false, isIdle: false });
  });
});

it('reads durations', () => {
  expect(['90s', '1h30m', '1.5h', '250ms'].map(durationMs)).toEqual([90_000, 5_400_000, 5_400_000, 250]);
});

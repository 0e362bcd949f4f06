import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import {
  getCondition,
  getConditions,
  isConditionTrue,
  removeCondition,
  setCondition,
  summarize,
} from './conditions.ts';
import { isPaused, setPaused } from './paused.ts';
import { FakeClock } from './testing/fake-clock.ts';

const start = Date.UTC(2030, 0, 1, 12, 0, 0, 987);

function scene(generation?: number) {
  const object: KubeObject = { apiVersion: 'test.dev/v1', kind: 'Thing', metadata: { name: 'a', generation } };
  return { object, clock: new FakeClock(start) };
}

describe('conditions', () => {
  it('sets generation and time, in whole seconds', () => {
    const { object, clock } = scene(7);
    expect(setCondition(object, { type: 'Ready', status: 'False', reason: 'Starting' }, clock)).toBe(true);
    expect(getConditions(object)).toEqual([
      {
        type: 'Ready',
        status: 'False',
        observedGeneration: 7,
        lastTransitionTime: '2030-01-01T12:00:00Z',
        reason: 'Starting',
        message: '',
      },
    ]);
  });

  it('keeps the time while the status stays', async () => {
    const { object, clock } = scene(1);
    setCondition(object, { type: 'Ready', status: 'False', reason: 'Starting' }, clock);
    await clock.advance(60_000);
    object.metadata.generation = 2;
    expect(setCondition(object, { type: 'Ready', status: 'False', reason: 'Slow', message: 'image' }, clock)).toBe(
      true,
    );
    expect(getCondition(object, 'Ready')).toMatchObject({
      lastTransitionTime: '2030-01-01T12:00:00Z',
      reason: 'Slow',
      message: 'image',
      observedGeneration: 2,
    });
    setCondition(object, { type: 'Ready', status: 'True', reason: 'Up' }, clock);
    expect(getCondition(object, 'Ready')?.lastTransitionTime).toBe('2030-01-01T12:01:00Z');
    expect(isConditionTrue(object, 'Ready')).toBe(true);
  });

  it('changes nothing when nothing changes', async () => {
    const { object, clock } = scene(1);
    const condition = { type: 'Ready', status: 'True', reason: 'Up' } as const;
    setCondition(object, condition, clock);
    const before = object.status;
    await clock.advance(60_000);
    expect(setCondition(object, condition, clock)).toBe(false);
    expect(object.status).toBe(before);
  });

  it('takes a given time, cut to seconds', () => {
    const { object, clock } = scene();
    const lastTransitionTime = '2029-05-05T05:05:05.999Z';
    setCondition(object, { type: 'Ready', status: 'True', reason: 'Up', lastTransitionTime }, clock);
    expect(getCondition(object, 'Ready')?.lastTransitionTime).toBe('2029-05-05T05:05:05Z');
  });

  it('has one order whatever the order of setting', () => {
    const types = ['Available', 'Ready', 'InfrastructureReady', 'Remediating', 'Alpha', 'Beta', 'Paused', 'Deleting'];
    fc.assert(
      fc.property(fc.shuffledSubarray(types, { minLength: types.length }), (shuffled) => {
        const { object, clock } = scene();
        for (const type of shuffled) setCondition(object, { type, status: 'True', reason: 'X' }, clock);
        expect(getConditions(object).map((condition) => condition.type)).toEqual(types);
      }),
    );
  });

  it('removes', () => {
    const { object, clock } = scene();
    setCondition(object, { type: 'A', status: 'True', reason: 'X' }, clock);
    setCondition(object, { type: 'B', status: 'True', reason: 'X' }, clock);
    expect(removeCondition(object, 'A')).toBe(true);
    expect(removeCondition(object, 'A')).toBe(false);
    expect(getConditions(object).map((condition) => condition.type)).toEqual(['B']);
  });

  it('sums up: issues first, then unknown, then what is worth telling', () => {
    const { object, clock } = scene();
    const set = (type: string, status: 'True' | 'False' | 'Unknown', message = '') =>
      setCondition(object, { type, status, reason: 'Because', message }, clock);
    const options = {
      of: ['ClusterReady', 'TerminalReady', 'Deleting', 'Extra'],
      negative: ['Deleting'],
      optional: ['Extra'],
    };
    set('ClusterReady', 'True', 'three nodes');
    set('Deleting', 'False');
    expect(summarize(object, 'Ready', options)).toEqual({
      type: 'Ready',
      status: 'Unknown',
      reason: 'ReadyUnknown',
      message: '* TerminalReady: Condition TerminalReady not yet reported',
    });
    set('TerminalReady', 'False', 'no shell\nno port');
    set('Deleting', 'True');
    expect(summarize(object, 'Ready', options)).toMatchObject({
      status: 'False',
      reason: 'NotReady',
      message: '* TerminalReady:\n  * no shell\n  * no port\n* Deleting: Because',
    });
    set('TerminalReady', 'True');
    set('Deleting', 'False');
    expect(summarize(object, 'Ready', options)).toMatchObject({
      status: 'True',
      reason: 'Ready',
      message: '* ClusterReady: three nodes',
    });
  });
});

describe('paused', () => {
  it('holds for the cluster and for the annotation, whatever its value', () => {
    const { object, clock } = scene();
    const cluster = { apiVersion: 'v1', kind: 'Cluster', metadata: { name: 'c' }, spec: { paused: true } };
    expect(isPaused(object)).toBe(false);
    expect(setPaused(object, undefined, clock)).toBe(false);
    expect(getCondition(object, 'Paused')).toMatchObject({ status: 'False', reason: 'NotPaused' });
    expect(setPaused(object, cluster, clock)).toBe(true);
    object.metadata.annotations = { 'cluster.x-k8s.io/paused': '' };
    expect(isPaused(object)).toBe(true);
    expect(setPaused(object, undefined, clock)).toBe(true);
    expect(getCondition(object, 'Paused')).toMatchObject({ status: 'True', reason: 'Paused' });
  });
});

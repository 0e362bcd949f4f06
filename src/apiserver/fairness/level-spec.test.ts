import { expect, it } from 'vitest';
import { bootstrapFlowControl } from '../loops/bootstrap-flow-control.ts';
import { levelSpec, limitsOf } from './level-spec.ts';

const fresh = bootstrapFlowControl(0)
  .filter(({ kind }) => kind === 'PriorityLevelConfiguration')
  .map(levelSpec);

it('a fresh cluster with the seats of kube-apiserver has the limits of kube-apiserver', () => {
  const limits = limitsOf(fresh, 600);
  // nominal: ceil(600 × shares ÷ 245); lendable: that × percent, rounded.
  expect(Object.fromEntries([...limits].map(([name, { nominal, lendable }]) => [name, [nominal, lendable]]))).toEqual({
    exempt: [0, 0],
    'catch-all': [13, 0],
    system: [74, 24],
    'node-high': [98, 25],
    'leader-election': [25, 0],
    'workload-high': [98, 49],
    'workload-low': [245, 221],
    'global-default': [49, 25],
  });
});

it('borrowing is unlimited unless it is limited', () => {
  const level = (limited: object) =>
    levelSpec({ apiVersion: '', kind: '', metadata: { name: 'a' }, spec: { type: 'Limited', limited } });
  const most = (limited: object) => limitsOf([level({ nominalConcurrencyShares: 10, ...limited })], 100).get('a')?.most;
  expect(most({})).toBe(100);
  expect(limitsOf([level({ borrowingLimitPercent: 0 }), { ...level({}), name: 'b' }], 100).get('a')).toMatchObject({
    nominal: 50,
    most: 50,
  });
  expect(limitsOf([level({ borrowingLimitPercent: 20 }), { ...level({}), name: 'b' }], 100).get('a')?.most).toBe(60);
});

it.each([
  { nominalConcurrencyShares: -5 },
  { nominalConcurrencyShares: Number.NaN, lendablePercent: 1e9 },
  { nominalConcurrencyShares: 'many', limitResponse: { type: 'Queue', queuing: { queues: -1, handSize: 0 } } },
  { limitResponse: null },
])('whatever was stored becomes numbers that can be counted with: %o', (limited) => {
  const spec = levelSpec({ apiVersion: '', kind: '', metadata: { name: 'a' }, spec: { type: 'Limited', limited } });
  const limits = limitsOf([spec], 20).get('a');
  for (const count of [spec.shares, limits?.nominal, limits?.lendable, limits?.most])
    expect(count).toBeGreaterThanOrEqual(0);
  expect(limits?.lendable).toBeLessThanOrEqual(limits?.nominal as number);
  if (spec.queuing) expect(spec.queuing.queues).toBeGreaterThan(0);
});

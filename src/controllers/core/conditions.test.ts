import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { absence, aggregated, mirrored } from './conditions.ts';

function machine(name: string, status: string, message = '', labels: Record<string, string> = {}): KubeObject {
  const conditions = status ? [{ type: 'Ready', status, reason: 'R', message }] : [];
  return { apiVersion: 'v1', kind: 'Machine', metadata: { name, labels }, status: { conditions } };
}
const reasons = { issues: 'NotReady', unknown: 'ReadyUnknown', fine: 'Ready' };
const all = (...machines: KubeObject[]) => aggregated(machines, { from: 'Ready', to: 'MachinesReady', reasons });

describe('many as one', () => {
  it('is as bad as the worst, and says who says what', () => {
    expect(all(machine('a', 'True'), machine('b', 'True'))).toMatchObject({
      status: 'True',
      reason: 'Ready',
      message: '',
    });
    expect(all(machine('a', 'True'), machine('b', ''))).toMatchObject({
      status: 'Unknown',
      message: '* Machine b: Condition Ready not yet reported',
    });
    expect(all(machine('a', 'Unknown', 'where'), machine('c', 'False', 'ill'), machine('b', 'False', 'ill'))).toEqual({
      type: 'MachinesReady',
      status: 'False',
      reason: 'NotReady',
      message: '* Machines b, c: ill\n* Machine a: where',
    });
  });

  it('begins with the control plane, and counts what is too much to tell', () => {
    const controlPlane = { 'cluster.x-k8s.io/control-plane': '' };
    const many = ['a', 'b', 'c', 'd'].map((name) => machine(name, 'False', `${name} is ill`));
    const { message } = all(...many, machine('z', 'False', 'z is ill', controlPlane));
    expect(message?.split('\n')[0]).toBe('* Machine z: z is ill');
    expect(message).toContain('And 2 more with other issues');
  });

  it('turns round where True is bad', () => {
    const options = { from: 'Ready', to: 'Busy', reasons: { issues: 'Busy', unknown: 'U', fine: 'NotBusy' } };
    expect(aggregated([machine('a', 'True', 'x')], { ...options, negative: true })).toMatchObject({
      status: 'True',
      reason: 'Busy',
    });
    expect(aggregated([machine('a', 'False')], { ...options, negative: true })).toMatchObject({ status: 'False' });
  });
});

describe('a provider’s condition', () => {
  const fallback = { status: 'False', reason: 'NotReady' } as const;
  const mirror = (status: object) =>
    mirrored({
      source: { ...machine('a', ''), status },
      from: 'Ready',
      to: 'InfrastructureReady',
      fine: 'Ready',
      fallback,
    });

  it('is taken over, also from below v1beta2, and need not be there', () => {
    const condition = { type: 'Ready', status: 'False', reason: 'Slow', message: 'wait' };
    expect(mirror({ conditions: [condition] })).toMatchObject({ reason: 'Slow', message: 'wait' });
    expect(mirror({ conditions: [], v1beta2: { conditions: [condition] } })).toMatchObject({ reason: 'Slow' });
    expect(mirror({ conditions: [{ type: 'Ready', status: 'True' }] })).toMatchObject({ reason: 'Ready' });
    expect(mirror({})).toMatchObject(fallback);
  });

  it('that is none is reported as such', () => {
    const wrong = mirror({ conditions: [{ type: 'Ready', status: 'Perhaps' }] });
    expect(wrong).toMatchObject({ status: 'Unknown', reason: 'InvalidConditionReported' });
  });
});

it('tells what never was from what is no more', () => {
  const options = { type: 'InfrastructureReady', kind: 'Foo', of: machine('m', '') };
  expect(absence({ ...options, found: { missing: false }, reached: true })).toMatchObject({ status: 'Unknown' });
  expect(absence({ ...options, found: { missing: true }, reached: false })).toMatchObject({
    reason: 'ObjectDoesNotExist',
  });
  expect(absence({ ...options, found: { missing: true }, reached: true }).message).toBe(
    'Foo has been deleted while the Machine still exists',
  );
});

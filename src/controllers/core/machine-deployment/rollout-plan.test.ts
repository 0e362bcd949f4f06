import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import { bounds, planRollout, planScale, splitSets } from './rollout-plan.ts';

interface Numbers {
  spec: number;
  status?: number;
  available?: number;
}

function machineSet(name: string, { spec, status = spec, available = status }: Numbers, version = 'v1'): KubeObject {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineSet',
    metadata: { name, creationTimestamp: `2030-01-0${name.length}T00:00:00Z` },
    spec: { replicas: spec, template: { spec: { version } } },
    status: { replicas: status, availableReplicas: available },
  };
}

function deployment(replicas: number, strategy: object = {}, version = 'v2'): KubeObject {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name: 'md' },
    spec: { replicas, rollout: { strategy }, template: { spec: { version } } },
  };
}

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});
const plan = (md: KubeObject, current: KubeObject, ...old: KubeObject[]) =>
  Object.fromEntries(planRollout(md, current, old));

describe('bounds', () => {
  it('rounds surge up and unavailable down, and never leaves both at zero', () => {
    expect(bounds(deployment(10, rolling('25%', '25%')))).toEqual({ maxSurge: 3, maxUnavailable: 2 });
    expect(bounds(deployment(3, rolling('0%', '10%')))).toEqual({ maxSurge: 0, maxUnavailable: 1 });
    expect(bounds(deployment(2))).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    expect(bounds(deployment(2, rolling(0, 5)))).toEqual({ maxSurge: 0, maxUnavailable: 2 });
  });
});

describe('a rolling update', () => {
  it('starts with what may be surged, and takes nothing away before it is available', () => {
    expect(plan(deployment(3), machineSet('new', { spec: 0 }), machineSet('o', { spec: 3 }))).toEqual({ new: 1 });
    const coming = machineSet('new', { spec: 1, status: 1, available: 0 });
    expect(plan(deployment(3), coming, machineSet('o', { spec: 3 }))).toEqual({});
  });

  it('takes an old machine away for each new one that is available', () => {
    expect(plan(deployment(3), machineSet('new', { spec: 1 }), machineSet('o', { spec: 3 }))).toEqual({ o: 2 });
    const going = machineSet('o', { spec: 2, status: 3 });
    expect(plan(deployment(3), machineSet('new', { spec: 1 }), going)).toEqual({});
    expect(plan(deployment(3), machineSet('new', { spec: 1 }), machineSet('o', { spec: 2 }))).toEqual({ new: 2 });
  });

  it('goes down first where nothing may be surged', () => {
    const md = deployment(3, rolling(0, 1));
    expect(plan(md, machineSet('new', { spec: 0 }), machineSet('o', { spec: 3 }))).toEqual({ o: 2 });
    expect(plan(md, machineSet('new', { spec: 0 }), machineSet('o', { spec: 2, status: 3 }))).toEqual({});
    expect(plan(md, machineSet('new', { spec: 0 }), machineSet('o', { spec: 2 }))).toEqual({ new: 1 });
  });

  it('lets machines that are of no use go first, from the oldest set', () => {
    const broken = machineSet('oo', { spec: 2, status: 2, available: 0 });
    expect(plan(deployment(4), machineSet('new', { spec: 1 }), broken, machineSet('ooo', { spec: 2 }))).toEqual({
      oo: 1,
    });
  });

  it('breaks a deadlock: an old machine that will never be available has nothing to lose', () => {
    const stuck = machineSet('o', { spec: 1, status: 1, available: 0 });
    const current = machineSet('new', { spec: 2, status: 2, available: 2 });
    expect(plan(deployment(3, rolling(0, 1)), current, stuck)).toEqual({ o: 0 });
  });

  it('follows a scale down at once', () => {
    expect(plan(deployment(1), machineSet('new', { spec: 3 }))).toEqual({ new: 1 });
  });

  it('never goes below the minimum or above the maximum, whatever happens on the way', () => {
    for (const [replicas, surge, unavailable] of [
      [1, 1, 0],
      [3, 1, 0],
      [5, 2, 1],
      [4, 0, 2],
    ] as const) {
      const md = deployment(replicas, rolling(surge, unavailable));
      const current = machineSet('new', { spec: 0 });
      const old = machineSet('o', { spec: replicas });
      for (
        let step = 0;
        step < 100 && (old.status.replicas > 0 || current.status.availableReplicas < replicas);
        step++
      ) {
        const next = planRollout(md, current, [old]);
        for (const set of [current, old]) set.spec.replicas = next.get(set.metadata.name ?? '') ?? set.spec.replicas;
        expect(current.spec.replicas + old.spec.replicas).toBeLessThanOrEqual(replicas + surge);
        // One thing happens at a time: a machine comes, becomes available, or goes.
        if (current.status.availableReplicas < current.status.replicas) current.status.availableReplicas++;
        else if (current.status.replicas < current.spec.replicas) current.status.replicas++;
        else if (old.status.replicas > old.spec.replicas) {
          old.status.replicas--;
          old.status.availableReplicas--;
        }
        const available = current.status.availableReplicas + old.status.availableReplicas;
        expect(available).toBeGreaterThanOrEqual(replicas - unavailable);
      }
      expect([current.status.availableReplicas, old.status.replicas]).toEqual([replicas, 0]);
    }
  });
});

describe('OnDelete', () => {
  const md = deployment(3, { type: 'OnDelete' });

  it('replaces what people delete, and nothing else', () => {
    expect(plan(md, machineSet('new', { spec: 0 }), machineSet('o', { spec: 3 }))).toEqual({});
    const oneDeleted = machineSet('o', { spec: 3, status: 2 });
    expect(plan(md, machineSet('new', { spec: 0 }), oneDeleted)).toEqual({ o: 2 });
    expect(plan(md, machineSet('new', { spec: 0 }), machineSet('o', { spec: 2 }))).toEqual({ new: 1 });
  });

  it('shrinks the oldest first when there are too many', () => {
    const small = deployment(2, { type: 'OnDelete' });
    const sets = [machineSet('o', { spec: 2 }), machineSet('oo', { spec: 1 })];
    expect(plan(small, machineSet('new', { spec: 1 }), ...sets)).toEqual({ o: 0 });
  });
});

describe('which set is the current one', () => {
  const sets = [machineSet('o', { spec: 3 }), machineSet('new', { spec: 1 }, 'v2')];

  it('the one whose machines need not be replaced', () => {
    const { current, old } = splitSets(deployment(3), sets, 0);
    expect([current?.metadata.name, old.map((set) => set.metadata.name)]).toEqual(['new', ['o']]);
  });

  it('none that is older than a rollout by time that is due', () => {
    const md = deployment(3);
    md.spec.rollout.after = '2030-02-01T00:00:00Z';
    expect(splitSets(md, sets, Date.parse('2030-01-15T00:00:00Z')).current?.metadata.name).toBe('new');
    expect(splitSets(md, sets, Date.parse('2030-02-02T00:00:00Z')).current).toBeUndefined();
  });
});

it('scales a paused deployment without rolling it out', () => {
  const current = machineSet('new', { spec: 1 }, 'v2');
  expect(Object.fromEntries(planScale(deployment(5), { current, old: [] }))).toEqual({ new: 5 });
  const shares = planScale(deployment(8), { current, old: [machineSet('o', { spec: 2 })] });
  expect([...shares.values()].reduce((a, b) => a + b, 0)).toBe(9);
});

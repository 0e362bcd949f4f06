import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import { judge, type Target } from './machine-health.ts';
import { allowance } from './remediation-allowance.ts';

const NOW = Date.parse('2030-01-01T01:00:00Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const condition = (type: string, status: string, seconds: number) => ({
  type,
  status,
  reason: 'Because',
  message: '',
  lastTransitionTime: ago(seconds),
});
const object = (kind: string, parts: Partial<KubeObject>): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'm', creationTimestamp: ago(3600) },
  ...parts,
});

function target(parts: Partial<Target> = {}, checks: object = {}): Target {
  return {
    machine: object('Machine', { status: { nodeRef: { name: 'n' } } }),
    cluster: object('Cluster', {
      status: {
        conditions: [
          condition('ControlPlaneInitialized', 'True', 3000),
          condition('InfrastructureReady', 'True', 3000),
        ],
      },
    }),
    check: object('MachineHealthCheck', { spec: { checks } }),
    node: object('Node', { status: { conditions: [condition('Ready', 'True', 100)] } }),
    nodeGone: false,
    ...parts,
  };
}
const rule = { unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: 60 }] };
const notReady = (seconds: number) =>
  object('Node', { status: { conditions: [condition('Ready', 'False', seconds)] } });

describe('a machine', () => {
  it('is healthy when nothing speaks against it', () => {
    expect(judge(target({}, rule), NOW)).toEqual({ is: 'healthy' });
  });

  it('becomes unhealthy when its node was bad for longer than allowed, and not before', () => {
    expect(judge(target({ node: notReady(30) }, rule), NOW)).toEqual({ is: 'open', againMs: 31_000 });
    expect(judge(target({ node: notReady(61) }, rule), NOW)).toMatchObject({
      is: 'unhealthy',
      reason: 'UnhealthyNode',
    });
  });

  it('is unhealthy by conditions of its own', () => {
    const machine = object('Machine', {
      status: { nodeRef: { name: 'n' }, conditions: [condition('Bad', 'True', 10)] },
    });
    const checks = { unhealthyMachineConditions: [{ type: 'Bad', status: 'True', timeoutSeconds: 5 }] };
    expect(judge(target({ machine }, checks), NOW)).toMatchObject({ reason: 'UnhealthyMachine' });
  });

  it('is unhealthy when its node is gone, or when a person says so', () => {
    expect(judge(target({ node: undefined, nodeGone: true }), NOW)).toMatchObject({ reason: 'NodeDeleted' });
    const annotations = { 'cluster.x-k8s.io/remediate-machine': '' };
    const machine = object('Machine', { metadata: { name: 'm', annotations } });
    expect(judge(target({ machine }), NOW)).toMatchObject({ reason: 'HasRemediateAnnotation' });
  });

  it('has ten minutes to get a node, counted from when it could have one', () => {
    const machine = object('Machine', { status: { conditions: [condition('InfrastructureReady', 'True', 590)] } });
    expect(judge(target({ machine, node: undefined }), NOW)).toEqual({ is: 'open', againMs: 11_000 });
    const late = object('Machine', { status: { conditions: [condition('InfrastructureReady', 'True', 601)] } });
    const verdict = judge(target({ machine: late, node: undefined }), NOW);
    expect(verdict).toMatchObject({ reason: 'NodeStartupTimeout' });
    expect(verdict).toMatchObject({ message: expect.stringContaining('10m0s') });
    expect(judge(target({ machine: late, node: undefined }, { nodeStartupTimeoutSeconds: 0 }), NOW)).toEqual({
      is: 'open',
    });
  });

  it('is not judged before its cluster is there', () => {
    const cluster = object('Cluster', { status: { conditions: [] } });
    expect(judge(target({ cluster, node: notReady(600) }, rule), NOW)).toEqual({ is: 'open' });
  });
});

describe('remediation', () => {
  const check = (triggerIf: object) => object('MachineHealthCheck', { spec: { remediation: { triggerIf } } });

  it('is allowed up to a number or share', () => {
    expect(allowance(check({}), 3, 0)).toMatchObject({ isAllowed: true, left: 0 });
    expect(allowance(check({ unhealthyLessThanOrEqualTo: '40%' }), 5, 3)).toMatchObject({ isAllowed: true, left: 0 });
    expect(allowance(check({ unhealthyLessThanOrEqualTo: '40%' }), 5, 2)).toMatchObject({ isAllowed: false });
    expect(allowance(check({ unhealthyLessThanOrEqualTo: 1 }), 5, 3)).toMatchObject({ isAllowed: false });
  });

  it('is allowed within a range', () => {
    expect(allowance(check({ unhealthyInRange: '[2-3]' }), 5, 4)).toMatchObject({ isAllowed: false });
    expect(allowance(check({ unhealthyInRange: '[2-3]' }), 5, 3)).toMatchObject({ isAllowed: true, left: 1 });
    expect(() => allowance(check({ unhealthyInRange: '[3-2]' }), 5, 3)).toThrow('no range');
  });
});

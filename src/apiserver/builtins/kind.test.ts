/** Who owns which part of an object, on each road it can be written by. */
import { describe, expect, it } from 'vitest';
import { strategyOf } from './index.ts';

// biome-ignore lint/suspicious/noExplicitAny: small objects
type Any = any;
const context = { now: 0, user: 'u', groups: ['g'], dryRun: false };
const pod = (): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', ownerReferences: [{ uid: '1' }] },
  spec: { containers: [{ name: 'c', image: 'a:1' }] },
});

function created(group: string, kind: string, object: Any): Any {
  const strategy = strategyOf(group, kind);
  strategy.defaults?.(object);
  strategy.prepareCreate?.(object, context);
  return object;
}

describe('the status', () => {
  it('starts empty, whatever the client says', () => {
    const deployment = { metadata: {}, spec: {}, status: { replicas: 7 } };
    expect(created('apps', 'Deployment', deployment).status).toEqual({});
    expect(created('', 'Pod', { ...pod(), status: { phase: 'Running' } }).status).toEqual({
      phase: 'Pending',
      qosClass: 'BestEffort',
    });
  });

  it('is kept on the main road and alone changes on its own', () => {
    const strategy = strategyOf('', 'Pod');
    const old = created('', 'Pod', pod());
    const main = { ...structuredClone(old), status: { phase: 'Failed' } };
    strategy.prepareUpdate?.(main, old, context);
    expect(main.status).toEqual(old.status);

    const status = structuredClone(old);
    status.spec.containers[0].image = 'b';
    status.metadata.ownerReferences = [];
    status.metadata.labels = { a: 'b' };
    status.status = { phase: 'Running' };
    strategy.prepareSubresource?.('status', status, old, context);
    expect(status.spec).toEqual(old.spec);
    expect(status.metadata.ownerReferences).toEqual(old.metadata.ownerReferences);
    expect(status.metadata.labels).toEqual({ a: 'b' });
    expect(status.status).toEqual({ phase: 'Running', qosClass: 'BestEffort' });
    expect(strategy.validateUpdate?.(status, old)).toEqual([]);
  });
});

describe('pods', () => {
  const strategy = strategyOf('', 'Pod');

  it('are bound by a subresource only', () => {
    const old = created('', 'Pod', pod());
    const bound = structuredClone(old);
    bound.spec.nodeName = 'node';
    expect(strategy.validateUpdate?.(bound, old)[0]?.message).toContain('pod updates may not change fields other than');
    strategy.prepareSubresource?.('binding', bound, old, context);
    expect(strategy.validateUpdate?.(bound, old)).toEqual([]);
  });

  it('take ephemeral containers, one name each, for good', () => {
    const old = created('', 'Pod', pod());
    const added = structuredClone(old);
    added.spec.ephemeralContainers = [{ name: 'debug', image: 'b' }];
    added.spec.containers[0].image = 'changed';
    strategy.defaults?.(added);
    strategy.prepareSubresource?.('ephemeralcontainers', added, old, context);
    expect(added.spec.containers[0].image).toBe('a:1');
    expect(strategy.validateUpdate?.(added, old)).toEqual([]);

    const removed = structuredClone(added);
    removed.spec.ephemeralContainers = [];
    strategy.prepareSubresource?.('ephemeralcontainers', removed, added, context);
    expect(strategy.validateUpdate?.(removed, added)[0]?.field).toBe('spec.ephemeralContainers');
  });

  it.each([
    ['asked', 'node', 'Running', 5, 5],
    ['its own period', 'node', 'Running', undefined, 30],
    ['unscheduled', '', 'Pending', 5, 0],
    ['finished', 'node', 'Succeeded', 5, 0],
    ['negative', 'node', 'Running', -3, 1],
  ])('wait for their end: %s', (_, nodeName, phase, requested, grace) => {
    const object = { metadata: {}, spec: { nodeName, terminationGracePeriodSeconds: 30 }, status: { phase } } as Any;
    expect(strategy.gracePeriod?.(object, requested)).toBe(grace);
  });
});

it('defaults are idempotent', () => {
  const kinds: Array<[string, string, Any]> = [
    ['', 'Pod', pod()],
    ['', 'Service', { metadata: {}, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }],
    ['apps', 'StatefulSet', { metadata: {}, spec: { volumeClaimTemplates: [{ metadata: { name: 'd' } }] } }],
    ['batch', 'CronJob', { metadata: {}, spec: {} }],
    ['autoscaling', 'HorizontalPodAutoscaler', { apiVersion: 'autoscaling/v2', metadata: {}, spec: { behavior: {} } }],
    ['discovery.k8s.io', 'EndpointSlice', { metadata: {}, ports: [{}], endpoints: [] }],
    ['', 'Event', { metadata: {} }],
    ['rbac.authorization.k8s.io', 'Role', { metadata: {} }],
  ];
  for (const [group, kind, object] of kinds) {
    const strategy = strategyOf(group, kind);
    strategy.defaults?.(object);
    const once = structuredClone(object);
    strategy.defaults?.(object);
    expect(object).toEqual(once);
  }
});

it('a signing request says who asked, and only approval decides', () => {
  const strategy = strategyOf('certificates.k8s.io', 'CertificateSigningRequest');
  const old = created('certificates.k8s.io', 'CertificateSigningRequest', { metadata: {}, spec: { username: 'root' } });
  expect(old.spec).toEqual({ username: 'u', groups: ['g'] });
  const decided = structuredClone(old);
  decided.status = { conditions: [{ type: 'Approved', status: 'True' }] };
  const sneaked = structuredClone(decided);
  strategy.prepareSubresource?.('approval', decided, old, context);
  expect(decided.status.conditions[0]).toMatchObject({ type: 'Approved', lastUpdateTime: '1970-01-01T00:00:00Z' });
  strategy.prepareSubresource?.('status', sneaked, old, context);
  expect(sneaked.status.conditions ?? []).toEqual([]);
});

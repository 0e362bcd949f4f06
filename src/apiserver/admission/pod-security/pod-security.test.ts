import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import { LOOPBACK } from '../../auth/identity.ts';
import type { Resource } from '../../resource.ts';
import type { ApiError } from '../../status.ts';
import type { Key, Stored } from '../../store/store.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { violationsOf } from './evaluate.ts';
import type { PodLike, PodSpec } from './pod.ts';
import { podSecurity } from './pod-security.ts';
import { readPolicy } from './policy.ts';
import { detailsOf } from './wording.ts';

const LABEL = 'pod-security.kubernetes.io/';
const container = (name: string, securityContext?: object) => ({ name, image: 'x', securityContext });
const pod = (spec: object, metadata = {}): PodLike => ({ metadata, spec: spec as PodSpec });
const SAFE = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
const NON_ROOT = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };

function told(level: 'baseline' | 'restricted', one: PodLike, minor = Number.POSITIVE_INFINITY): string {
  return detailsOf(violationsOf({ level, minor }, one));
}

describe('restricted', () => {
  it('says everything at once, in order', () => {
    expect(told('restricted', pod({ containers: [container('a'), container('b')] }))).toBe(
      'allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (containers "a", "b" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or containers "a", "b" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or containers "a", "b" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
    expect(told('restricted', pod({ containers: [container('a', SAFE)], securityContext: NON_ROOT }))).toBe('');
  });

  it.each<[string, object, string]>([
    [
      'volumes',
      {
        volumes: [
          { name: 'v', hostPath: {} },
          { name: 'w', nfs: {} },
          { name: 'ok', secret: {} },
        ],
      },
      'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'root',
      { securityContext: { ...NON_ROOT, runAsNonRoot: false, runAsUser: 0 } },
      'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod must not set runAsUser=0)',
    ],
    [
      'capabilities',
      { containers: [container('a', { ...SAFE, capabilities: { drop: ['ALL'], add: ['NET_RAW', 'CHOWN'] } })] },
      'unrestricted capabilities (container "a" must not include "CHOWN", "NET_RAW" in securityContext.capabilities.add)',
    ],
  ])('refuses %s', (_, more, expected) => {
    const good = { containers: [container('a', SAFE)], securityContext: NON_ROOT };
    expect(told('restricted', pod({ ...good, ...more }))).toBe(expected);
  });

  it('asks less of older versions, and of pods in a user namespace', () => {
    const plain = pod({ containers: [container('a')] });
    expect(told('restricted', plain, 18)).toBe(
      'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
        'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
    );
    const users = pod({
      hostUsers: false,
      containers: [container('a', SAFE)],
      securityContext: { ...NON_ROOT, runAsNonRoot: false },
    });
    expect(told('restricted', users)).toBe('');
    expect(told('restricted', users, 34)).toMatch(/^runAsNonRoot/);
  });
});

describe('baseline', () => {
  it.each<[PodLike, string]>([
    [pod({ containers: [container('a')] }), ''],
    [pod({ hostNetwork: true, hostPID: true }), 'host namespaces (hostNetwork=true, hostPID=true)'],
    [pod({ volumes: [{ name: 'v', hostPath: {} }] }), 'hostPath volumes (volume "v")'],
    [
      pod({ containers: [{ name: 'a', ports: [{ hostPort: 90 }, { hostPort: 80 }] }] }),
      'hostPort (container "a" uses hostPorts 80, 90)',
    ],
    [
      pod({ initContainers: [container('i', { privileged: true })] }),
      'privileged (container "i" must not set securityContext.privileged=true)',
    ],
    [
      pod({ containers: [container('a', { capabilities: { add: ['NET_RAW', 'KILL'] } })] }),
      'non-default capabilities (container "a" must not include "NET_RAW" in securityContext.capabilities.add)',
    ],
    [
      pod({ securityContext: { seLinuxOptions: { type: 'x', user: 'u' } } }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set)',
    ],
    [
      pod({
        securityContext: { seccompProfile: { type: 'Unconfined' } },
        containers: [container('a', { seccompProfile: { type: 'Unconfined' } })],
      }),
      'seccompProfile (pod and container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      pod({ securityContext: { sysctls: [{ name: 'kernel.x' }, { name: 'net.ipv4.tcp_rmem' }] } }),
      'forbidden sysctls (kernel.x)',
    ],
    [
      pod({ containers: [{ name: 'a', livenessProbe: { httpGet: { host: 'h' } } }] }),
      'probe or lifecycle host (container "a" uses probe or lifecycle host "h")',
    ],
    [
      pod({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/a': 'unconfined' } }),
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
    ],
    [
      pod({ containers: [container('a', { procMount: 'Unmasked' })] }),
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      pod({ containers: [container('a', { windowsOptions: { hostProcess: true } })] }),
      'hostProcess (container "a" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
  ])('%#', (one, expected) => expect(told('baseline', one)).toBe(expected));
});

describe('labels', () => {
  it('warn of what they refuse, unless they say otherwise', () => {
    const { policy } = readPolicy({ [`${LABEL}enforce`]: 'restricted', [`${LABEL}enforce-version`]: 'v1.30' });
    expect(policy.warn).toEqual({ level: 'restricted', minor: 30 });
    expect(policy.audit.level).toBe('privileged');
    expect(readPolicy({ [`${LABEL}enforce`]: 'restricted', [`${LABEL}warn`]: 'privileged' }).policy.warn.level).toBe(
      'privileged',
    );
  });

  it('that make no sense are named', () => {
    const { policy, errors } = readPolicy({ [`${LABEL}enforce`]: 'strict', [`${LABEL}warn-version`]: '1.30' });
    expect(policy.enforce.level).toBe('restricted');
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      `metadata.labels[${LABEL}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted`,
      `metadata.labels[${LABEL}warn-version]: Invalid value: "1.30": must be "latest" or "v1.x"`,
    ]);
  });
});

describe('admission', () => {
  const namespace = (labels: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n', labels },
  });
  const STRICT = namespace({ [`${LABEL}enforce`]: 'baseline' });
  const bad = (name: string) =>
    ({ metadata: { name }, spec: { hostNetwork: true, containers: [container('a')] } }) as unknown as KubeObject;

  function run(more: Partial<AdmissionAttributes> & { plural: string; group?: string }, pods: KubeObject[] = []) {
    const stored = (key: Key, object: KubeObject) => ({ key, rv: 1, json: '', object: () => object }) as Stored;
    const warnings: string[] = [];
    const attributes: AdmissionAttributes = {
      operation: 'CREATE',
      resource: { group: more.group ?? '', plural: more.plural } as Resource,
      subresource: '',
      namespace: 'n',
      name: more.object?.metadata.name ?? '',
      identity: LOOPBACK,
      dryRun: false,
      now: 0,
      warnings,
      store: {
        get: (key) => stored(key, STRICT),
        count: () => pods.length,
        list: ({ resource }) => ({
          rv: 1,
          more: false,
          items: pods.map((one) => stored({ resource, namespace: 'n', name: one.metadata.name ?? '' }, one)),
        }),
      },
      ...more,
    };
    if (podSecurity.handles(attributes)) void podSecurity.validate?.(attributes);
    return warnings;
  }
  const refusal = (act: () => unknown): ApiError => {
    try {
      act();
    } catch (error) {
      return error as ApiError;
    }
    throw new Error('was allowed');
  };

  it('refuses pods and warns of templates', () => {
    const error = refusal(() => run({ plural: 'pods', object: bad('p') }));
    expect(error.code).toBe(403);
    expect(error.message).toBe(
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    );
    const deployment = { metadata: { name: 'd' }, spec: { template: bad('') } } as unknown as KubeObject;
    expect(run({ group: 'apps', plural: 'deployments', object: deployment })).toEqual([
      'would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
    ]);
  });

  it('lets pods be that do not change what they run', () => {
    const object = bad('p');
    expect(run({ operation: 'UPDATE', plural: 'pods', object, old: bad('p') })).toEqual([]);
    const debugged = { ...object, spec: { ...object.spec, ephemeralContainers: [container('debug')] } };
    const change = { operation: 'UPDATE' as const, plural: 'pods', subresource: 'ephemeralcontainers' };
    expect(refusal(() => run({ ...change, object: debugged, old: object })).code).toBe(403);
    expect(run({ ...change, subresource: 'status', object: debugged, old: object })).toEqual([]);
  });

  it('says what runs in a namespace that becomes stricter', () => {
    const change = { operation: 'UPDATE' as const, plural: 'namespaces', namespace: 'n' };
    expect(run({ ...change, object: STRICT, old: namespace({}) }, [bad('b'), bad('a'), bad('c')])).toEqual([
      'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 2 other pods): host namespaces',
    ]);
    expect(run({ ...change, object: STRICT, old: STRICT }, [bad('a')])).toEqual([]);
    const wrong = namespace({ [`${LABEL}warn`]: 'x' });
    expect(refusal(() => run({ plural: 'namespaces', object: wrong })).message).toBe(
      `Namespace "n" is invalid: metadata.labels[${LABEL}warn]: Invalid value: "x": must be one of privileged, baseline, restricted`,
    );
    expect(run({ ...change, object: wrong, old: wrong })).toEqual([]);
  });
});

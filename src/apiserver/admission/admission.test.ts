/** The plug-ins together, on a store in memory. The texts are those a real kube-apiserver 1.35.8 gave to the same. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { LOOPBACK } from '../auth/identity.ts';
import { strategyOf } from '../builtins/index.ts';
import type { Resource } from '../resource.ts';
import { ApiError } from '../status.ts';
import type { Key, Stored, Transaction } from '../store/store.ts';
import type { AdmissionAttributes, Operation } from './admission.ts';
import { admit, builtinPlugins, commit } from './index.ts';
import { quotaStatus } from './resource-quota.ts';

// biome-ignore lint/suspicious/noExplicitAny: manifests
type Any = any;
const KINDS: Record<string, string> = {
  pods: 'Pod',
  services: 'Service',
  configmaps: 'ConfigMap',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  namespaces: 'Namespace',
  nodes: 'Node',
};

class World implements Transaction {
  readonly objects = new Map<string, Stored>();
  private readonly plugins = builtinPlugins();
  private rv = 0;

  get = (key: Key) => this.objects.get(`${key.resource}|${key.namespace}|${key.name}`);
  list = (resource: string, namespace?: string) =>
    [...this.objects.values()].filter(
      ({ key }) => key.resource === resource && (namespace === undefined || key.namespace === namespace),
    );
  put = (key: Key, object: KubeObject) => {
    const copy = structuredClone(object);
    const stored: Stored = { key, rv: ++this.rv, json: JSON.stringify(copy), object: () => copy };
    this.objects.set(`${key.resource}|${key.namespace}|${key.name}`, stored);
    return stored;
  };
  delete = (key: Key) => {
    const stored = this.get(key);
    this.objects.delete(`${key.resource}|${key.namespace}|${key.name}`);
    return stored;
  };

  add(resource: string, namespace: string, object: Any): void {
    this.put({ resource, namespace, name: object.metadata.name }, object);
  }

  /** Through admission into the store; the object, or the refusal's message. */
  async write(operation: Operation, group: string, plural: string, namespace: string, body: Any): Promise<Any> {
    const kind = KINDS[plural] ?? plural;
    const object = structuredClone({ apiVersion: 'v1', kind, ...body });
    const key = { resource: `${group}/${plural}`, namespace, name: object.metadata.name };
    const attributes: AdmissionAttributes = {
      operation,
      resource: { group, plural, kind } as Resource,
      subresource: '',
      object: operation === 'DELETE' ? undefined : object,
      old: operation === 'CREATE' ? undefined : this.get(key)?.object(),
      namespace,
      name: object.metadata.name,
      identity: LOOPBACK,
      dryRun: false,
      store: {
        get: this.get,
        list: ({ resource, namespace: ns }) => ({ items: this.list(resource, ns), rv: this.rv, more: false }),
        count: (resource, ns) => this.list(resource, ns).length,
      },
      now: Date.parse('2026-01-02T03:04:05Z'),
    };
    try {
      if (operation !== 'DELETE') strategyOf(group, kind).defaults?.(object);
      await admit('mutate', attributes, this.plugins);
      await admit('validate', attributes, this.plugins);
      commit(this, attributes, this.plugins);
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
    if (operation === 'DELETE') this.delete(key);
    else this.put(key, object);
    return object;
  }

  create = (plural: string, namespace: string, body: Any) => this.write('CREATE', '', plural, namespace, body);
}

let world: World;
const pod = (name: string, resources: Any = {}, spec: Any = {}) => ({
  metadata: { name, uid: `uid-${name}` },
  spec: { containers: [{ name: 'c', image: 'nginx', resources }], ...spec },
});
const service = (name: string, spec: Any) => ({ metadata: { name, uid: `uid-${name}` }, spec });

beforeEach(() => {
  world = new World();
  for (const name of ['default', 'n']) {
    world.add('/namespaces', '', { metadata: { name }, status: { phase: 'Active' } });
    world.add('/serviceaccounts', name, { metadata: { name: 'default' }, imagePullSecrets: [{ name: 'pull' }] });
  }
});

describe('namespaces', () => {
  it('must exist', async () => {
    expect(await world.create('configmaps', 'nowhere', { metadata: { name: 'a' } })).toBe(
      'namespaces "nowhere" not found',
    );
  });

  it('take nothing new while they end', async () => {
    world.add('/namespaces', '', { metadata: { name: 'q' }, status: { phase: 'Terminating' } });
    expect(await world.create('configmaps', 'q', { metadata: { name: 'c' } })).toBe(
      'configmaps "c" is forbidden: unable to create new content in namespace q because it is being terminated',
    );
  });

  it('that the system lives in stay', async () => {
    expect(await world.write('DELETE', '', 'namespaces', '', { metadata: { name: 'default' } })).toBe(
      'namespaces "default" is forbidden: this namespace may not be deleted',
    );
    expect(await world.write('DELETE', '', 'namespaces', '', { metadata: { name: 'n' } })).toMatchObject({});
  });
});

describe('pods', () => {
  it('get an account, its token and its pull secrets', async () => {
    const made = await world.create('pods', 'n', pod('a'));
    expect(made.spec.serviceAccountName).toBe('default');
    expect(made.spec.imagePullSecrets).toEqual([{ name: 'pull' }]);
    expect(made.spec.containers[0].volumeMounts[0].mountPath).toBe('/var/run/secrets/kubernetes.io/serviceaccount');
    expect(made.spec.volumes[0].projected.sources).toHaveLength(3);
    expect(made.spec.tolerations.map((t: Any) => [t.key, t.tolerationSeconds])).toEqual([
      ['node.kubernetes.io/not-ready', 300],
      ['node.kubernetes.io/unreachable', 300],
    ]);
    expect([made.spec.priority, made.spec.preemptionPolicy]).toEqual([0, 'PreemptLowerPriority']);
  });

  it('may do without the token', async () => {
    const made = await world.create('pods', 'n', pod('a', {}, { automountServiceAccountToken: false }));
    expect(made.spec.volumes).toBeUndefined();
  });

  it('need an account, a priority class and a runtime class that exist', async () => {
    expect(await world.create('pods', 'n', pod('y', {}, { serviceAccountName: 'nope' }))).toBe(
      'pods "y" is forbidden: error looking up service account n/nope: serviceaccount "nope" not found',
    );
    expect(await world.create('pods', 'n', pod('z', {}, { priorityClassName: 'nope' }))).toBe(
      'pods "z" is forbidden: no PriorityClass with name nope was found',
    );
    expect(await world.create('pods', 'n', pod('z', {}, { runtimeClassName: 'nope' }))).toBe(
      'pods "z" is forbidden: pod rejected: RuntimeClass "nope" not found',
    );
  });

  it('take the default priority class', async () => {
    const priority = { metadata: { name: 'high' }, value: 7, globalDefault: true, preemptionPolicy: 'Never' };
    world.add('scheduling.k8s.io/priorityclasses', '', priority);
    const { spec } = await world.create('pods', 'n', pod('a'));
    expect([spec.priorityClassName, spec.priority, spec.preemptionPolicy]).toEqual(['high', 7, 'Never']);
  });
});

describe('limit ranges', () => {
  beforeEach(() => {
    world.add('/limitranges', 'n', {
      metadata: { name: 'lr' },
      spec: {
        limits: [
          {
            type: 'Container',
            max: { cpu: '1', memory: '1Gi' },
            min: { cpu: '100m' },
            default: { memory: '512Mi', cpu: '1' },
            defaultRequest: { memory: '512Mi', cpu: '1' },
            maxLimitRequestRatio: { cpu: '2' },
          },
          { type: 'Pod', max: { cpu: '1500m' } },
          { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
        ],
      },
    });
  });

  it('fill in what containers leave open', async () => {
    const made = await world.create('pods', 'n', pod('a'));
    expect(made.spec.containers[0].resources).toEqual({
      limits: { cpu: '1', memory: '512Mi' },
      requests: { cpu: '1', memory: '512Mi' },
    });
    expect(made.metadata.annotations['kubernetes.io/limit-ranger']).toBe(
      'LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c',
    );
  });

  it('name everything that is out of range', async () => {
    const resources = { limits: { cpu: '2', memory: '2Gi' }, requests: { cpu: '50m' } };
    expect(await world.create('pods', 'n', pod('p2', resources))).toBe(
      'pods "p2" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi, cpu max limit to request ratio per Container is 2, but provided ratio is 40.000000, maximum cpu usage per Pod is 1500m, but limit is 2]',
    );
  });

  it('hold for claims', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
    expect(await world.create('persistentvolumeclaims', 'n', { metadata: { name: 'p' }, spec })).toBe(
      'persistentvolumeclaims "p" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
    );
  });
});

describe('quotas', () => {
  const hard = {
    pods: '1',
    'requests.cpu': '1',
    'services.nodeports': '0',
    'count/configmaps': '1',
    'limits.memory': '1Gi',
  };
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  const status = () => world.get({ resource: '/resourcequotas', namespace: 'n', name: 'qq' })?.object().status;

  beforeEach(() => {
    world.add('/resourcequotas', 'n', { metadata: { name: 'qq' }, spec: { hard }, status: { hard, used } });
  });

  it('make containers say what they need', async () => {
    expect(await world.create('pods', 'n', pod('a'))).toBe(
      'pods "a" is forbidden: failed quota: qq: must specify limits.memory for: c; requests.cpu for: c',
    );
  });

  it('refuse what goes beyond', async () => {
    expect(await world.create('pods', 'n', pod('b', { limits: { cpu: '2', memory: '2Gi' } }))).toBe(
      'pods "b" is forbidden: exceeded quota: qq, requested: limits.memory=2Gi,requests.cpu=2, used: limits.memory=0,requests.cpu=0, limited: limits.memory=1Gi,requests.cpu=1',
    );
    expect(await world.create('services', 'n', service('x', { type: 'NodePort', ports: [{ port: 80 }] }))).toBe(
      'services "x" is forbidden: exceeded quota: qq, requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0',
    );
    expect(status().used).toEqual(used);
  });

  it('count what they let through', async () => {
    await world.create('configmaps', 'n', { metadata: { name: 'a' } });
    expect(status().used['count/configmaps']).toBe('1');
    expect(await world.create('configmaps', 'n', { metadata: { name: 'b' } })).toBe(
      'configmaps "b" is forbidden: exceeded quota: qq, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
    );
  });

  it('forget what is gone', async () => {
    await world.create('configmaps', 'n', { metadata: { name: 'a' } });
    await world.write('DELETE', '', 'configmaps', 'n', { metadata: { name: 'a' } });
    expect(await world.create('configmaps', 'n', { metadata: { name: 'b' } })).toMatchObject({ kind: 'ConfigMap' });
  });

  it('know what their status should be', () => {
    world.add('/configmaps', 'n', { metadata: { name: 'a' } });
    const pods = { resource: '/pods', namespace: 'n' };
    world.put({ ...pods, name: 'p' }, pod('p', { requests: { cpu: '250m' } }) as Any);
    world.put({ ...pods, name: 'q' }, { ...pod('q', { requests: { cpu: '2' } }), status: { phase: 'Failed' } } as Any);
    const quota = { metadata: { namespace: 'n' }, spec: { hard } } as Any;
    expect(quotaStatus(world, quota, 0)).toEqual({
      hard,
      used: { ...used, pods: '1', 'requests.cpu': '250m', 'count/configmaps': '1' },
    });
  });

  it('without a status count what is there', async () => {
    world.add('/resourcequotas', 'n', { metadata: { name: 'qq' }, spec: { hard: { configmaps: '1' } } });
    world.add('/configmaps', 'n', { metadata: { name: 'there' } });
    expect(await world.create('configmaps', 'n', { metadata: { name: 'b' } })).toContain('used: configmaps=1');
  });
});

describe('service addresses', () => {
  it('are each given once', async () => {
    const seen = new Set<string>();
    for (let i = 0; i < 200; i++) {
      const made = await world.create('services', 'n', service(`s${i}`, { ports: [{ port: 80 }] }));
      expect(made.spec.clusterIPs).toEqual([made.spec.clusterIP]);
      expect(made.spec.clusterIP).toMatch(/^10\.96\./);
      seen.add(made.spec.clusterIP);
    }
    expect(seen.size).toBe(200);
  });

  it('asked for by name are given if they are free', async () => {
    const wanted = { clusterIP: '10.96.0.10', ports: [{ port: 80 }] };
    expect((await world.create('services', 'n', service('dns', wanted))).spec.clusterIPs).toEqual(['10.96.0.10']);
    expect(await world.create('services', 'n', service('other', wanted))).toContain('provided IP is already allocated');
  });

  it('and node ports are free again after a delete', async () => {
    const spec = { type: 'NodePort', clusterIP: '10.96.0.20', ports: [{ port: 80, nodePort: 30500 }] };
    await world.create('services', 'n', service('a', spec));
    expect(await world.create('services', 'n', service('b', { ...spec, clusterIP: '' }))).toContain(
      'spec.ports[0].nodePort: Invalid value: 30500: provided port is already allocated',
    );
    await world.write('DELETE', '', 'services', 'n', { metadata: { name: 'a' } });
    expect((await world.create('services', 'n', service('b', spec))).spec.ports[0].nodePort).toBe(30500);
  });

  it('stay with their service', async () => {
    const made = await world.create('services', 'n', service('a', { type: 'NodePort', ports: [{ port: 80 }] }));
    const again = await world.write('UPDATE', '', 'services', 'n', made);
    expect(again.spec).toEqual(made.spec);
  });

  it('share a node port between protocols', async () => {
    const ports = [
      { name: 'a', port: 53 },
      { name: 'b', port: 53, protocol: 'UDP' },
    ];
    const { spec } = await world.create('services', 'n', service('dns', { type: 'NodePort', ports }));
    expect(spec.ports[0].nodePort).toBe(spec.ports[1].nodePort);
  });
});

it('new nodes wait until they are ready, volumes until they are free', async () => {
  expect((await world.create('nodes', '', { metadata: { name: 'x' } })).spec.taints).toEqual([
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  ]);
  world.add('storage.k8s.io/storageclasses', '', {
    metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  });
  const claim = await world.create('persistentvolumeclaims', 'n', { metadata: { name: 'p' }, spec: {} });
  expect(claim.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  expect(claim.spec.storageClassName).toBe('fast');
});

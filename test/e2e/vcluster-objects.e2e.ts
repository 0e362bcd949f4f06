// Our own objects against vcluster's chart of the same release, rendered by helm from the same configuration: the same kinds and names, the same pods, the
// same rights, the same settings.
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { vclusterConfig } from '../../src/provisioners/vcluster/config.ts';
import { at, type JsonObject, merged } from '../../src/provisioners/vcluster/json-tree.ts';
import type { VclusterSpec } from '../../src/provisioners/vcluster/marks.ts';
import { controlPlaneObject, supportObjects } from '../../src/provisioners/vcluster/objects.ts';
import { scratch } from '../bed/cache.ts';
import { kubernetesVersion, vclusterVersion } from '../bed/versions.ts';
import { configOf, meaningful, renderChart, rights } from './support/vcluster-chart.ts';

describe('our objects are those of the chart', () => {
  /** Of features that nothing of ours switches on. */
  const UNUSED = [
    'controlPlane.advanced.cloudControllerManager',
    'controlPlane.advanced.konnectivity',
    'controlPlane.advanced.registry',
    'controlPlane.backingStore',
    'controlPlane.ingress',
    'controlPlane.standalone',
    'controlPlane.tlsRoute',
    'deploy',
    'experimental.docker',
    'integrations.certManager',
    'integrations.istio',
    'integrations.kubeVirt',
    'policies',
    'privateNodes',
  ];
  const folder = scratch('vcluster-objects');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const place = { id: 'u-1', name: 'inner', namespace: 'team' };
  const everything = Object.fromEntries(
    ['nodes', 'ingresses', 'ingressClasses', 'networkPolicies', 'persistentVolumes', 'storageClasses']
      .concat('serviceAccounts', 'podDisruptionBudgets', 'priorityClasses')
      .map((name) => [name, true]),
  );
  const values = {
    controlPlane: {
      distro: { k8s: { env: [{ name: 'A', value: 'b' }], scheduler: { enabled: true } } },
      statefulSet: {
        scheduling: { nodeSelector: { disk: 'fast' }, tolerations: [{ operator: 'Exists' }] },
        pods: { labels: { team: 'a' }, annotations: { note: 'b' } },
        hostAliases: [{ ip: '192.0.2.7', hostnames: ['x'] }],
      },
    },
    integrations: { metricsServer: { enabled: true } },
    sync: {
      toHost: { customResources: { 'things.example.org': { enabled: true } } },
      fromHost: { nodes: { syncBackChanges: true } },
    },
  };
  test.each<[string, Partial<VclusterSpec>]>([
    ['by default', {}],
    ['with all that can be synced', { sync: everything }],
    ['without a volume', { persistence: { enabled: false }, expose: { type: 'ClusterIP' } }],
    [
      'with a registry',
      { images: { registry: 'r.example', pullSecrets: ['s'], pullPolicy: 'Never', coredns: 'dns:1' } },
    ],
    ['with a load balancer', { expose: { type: 'LoadBalancer', host: 'a.example', sans: ['b.example'] } }],
    [
      'with a port and a class',
      { expose: { nodePort: 30123 }, persistence: { size: '1Gi', storageClassName: 'fast' } },
    ],
    ['with values of vcluster.yaml', { sync: { nodes: true }, values, resources: { limits: { memory: '1Gi' } } }],
  ])('%s', async (_what, more) => {
    const wanted: VclusterSpec = { host: { cluster: 'any' }, clusterName: place.name, kubernetesVersion, ...more };
    const config = vclusterConfig({ spec: wanted, kubernetesVersion, vclusterVersion, addresses: ['192.0.2.1'] });
    const blueprint = { ...place, config, kubernetesVersion, vclusterVersion };
    const ours = [...supportObjects(blueprint), controlPlaneObject(blueprint, 'uid')].map(({ object }) => object);
    // Helm merges into the defaults of the chart, where null takes one away.
    const noLimit = { controlPlane: { distro: { k8s: { resources: { limits: { cpu: null } } } } } };
    const theirs = await renderChart(folder, { ...place, config: merged(config, noLimit) });
    // Without a volume the chart makes a Deployment; ours is a StatefulSet then too, so that there is never a second pod.
    const isWithoutVolume = theirs.some(({ kind }) => kind === 'Deployment');
    expect(names(ours)).toEqual([...names(theirs), ...(isWithoutVolume ? ['Service team/inner-headless'] : [])].sort());
    for (const object of theirs) expect(essence(find(ours, object)), object.kind).toEqual(essence(object));
    const configured = configOf(theirs);
    for (const path of UNUSED) drop(configured, path);
    expect(meaningful(configOf(ours))).toEqual(meaningful(configured));
  });

  const names = (objects: KubeObject[]) => objects.map((object) => nameOf(object)).sort();
  const nameOf = ({ kind, metadata }: KubeObject) =>
    `${kind.replace('Deployment', 'StatefulSet')} ${metadata.namespace ?? ''}/${metadata.name}`;
  const find = (objects: KubeObject[], like: KubeObject) =>
    objects.find((object) => nameOf(object) === nameOf(like)) as KubeObject;
  const drop = (tree: JsonObject, path: string) => {
    const [, above, last = ''] = /^(?:(.*)\.)?([^.]+)$/.exec(path) ?? [];
    delete ((above ? at(tree, above) : tree) as JsonObject)[last];
  };

  function essence(object: KubeObject): unknown {
    if (object.kind.endsWith('Role')) return rights(object);
    const { metadata, kind, apiVersion, data: _, ...content } = structuredClone(object);
    const { app, release } = metadata.labels ?? {};
    const { template, volumeClaimTemplates, strategy: _strategy, ...set } = content.spec ?? {};
    if (!template) return meaningful({ ...content, labels: { app, release } } as JsonObject);
    const { serviceName, podManagementPolicy, ...common } = set;
    for (const container of [...template.spec.initContainers, ...template.spec.containers]) {
      delete container.terminationMessagePolicy;
      container.volumeMounts.sort(byName);
      container.args = container.args?.map((arg: string) => arg.trim());
    }
    template.spec.volumes.sort(byName);
    for (const mark of ['vClusterConfigHash', 'rookery.dev/service-uid']) delete template.metadata.annotations[mark];
    delete template.metadata.labels['rookery.dev/cluster-id'];
    const claims = (volumeClaimTemplates ?? []).map(({ spec: claim }: KubeObject) => claim);
    return meaningful({ common, template, claims });
  }
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
});

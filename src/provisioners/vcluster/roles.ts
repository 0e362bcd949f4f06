/**
 * What vcluster may do in its host: in its namespace always, on the whole host only where something is switched on that needs it. Follows from the
 * configuration, line by line as in the chart of the same release; `test/e2e/provisioner-vcluster` compares the two.
 */
import { at, isBranch, isOn, type JsonObject } from './json-tree.ts';

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const rule = (group: string, resources: string[], verbs: string[]): Rule => ({
  apiGroups: [group],
  resources,
  verbs,
});
const ALL = ['create', 'delete', 'patch', 'update', 'get', 'list', 'watch'];
const READ = ['get', 'list', 'watch'];
const CHANGE = ['patch', 'update'];

/** Rules of the Role in its namespace. */
export function roleRules(config: JsonObject): Rule[] {
  const when = (path: string, ...rules: Rule[]) => (isOn(config, path) ? rules : []);
  return [
    rule(
      '',
      [
        'configmaps',
        'secrets',
        'services',
        'pods',
        'pods/attach',
        'pods/portforward',
        'pods/exec',
        'persistentvolumeclaims',
      ],
      ALL,
    ),
    rule('', ['pods/status', 'pods/ephemeralcontainers'], CHANGE),
    rule('', ['pods/resize'], CHANGE),
    rule('apps', ['statefulsets', 'replicasets', 'deployments'], [...READ, ...CHANGE]),
    rule('', ['endpoints', 'pods/log'], READ),
    rule('', ['events'], ['create', ...READ]),
    rule('events.k8s.io', ['events'], ['create', ...READ]),
    ...when('sync.toHost.endpoints.enabled', rule('', ['endpoints'], ['create', 'delete', ...CHANGE])),
    ...when('sync.toHost.endpointSlices.enabled', rule('discovery.k8s.io', ['endpointslices'], ALL)),
    ...(isOn(config, 'integrations.metricsServer.enabled') && isOn(config, 'integrations.metricsServer.pods')
      ? [rule('metrics.k8s.io', ['pods'], ['get', 'list'])]
      : []),
    ...when('sync.toHost.ingresses.enabled', rule('networking.k8s.io', ['ingresses'], ALL)),
    ...when('sync.toHost.networkPolicies.enabled', rule('networking.k8s.io', ['networkpolicies'], ALL)),
    ...when('sync.toHost.volumeSnapshots.enabled', rule('snapshot.storage.k8s.io', ['volumesnapshots'], ALL)),
    ...when(
      'sync.toHost.resourceClaims.enabled',
      rule('resource.k8s.io', ['resourceclaims'], ALL),
      rule('resource.k8s.io', ['resourceclaims/status'], CHANGE),
    ),
    ...when('sync.toHost.resourceClaimTemplates.enabled', rule('resource.k8s.io', ['resourceclaimtemplates'], ALL)),
    ...when('sync.toHost.serviceAccounts.enabled', rule('', ['serviceaccounts'], ALL)),
    ...when('sync.toHost.podDisruptionBudgets.enabled', rule('policy', ['poddisruptionbudgets'], ALL)),
    ...customResources(config, 'sync.toHost.customResources', ALL),
  ];
}

/** Rules on the whole host; empty means that no ClusterRole is made. */
export function clusterRoleRules(config: JsonObject): Rule[] {
  const any = (...paths: string[]) => paths.some((path) => isOn(config, path));
  const when = (isWanted: boolean, ...rules: Rule[]) => (isWanted ? rules : []);
  const [from, to] = ['sync.fromHost', 'sync.toHost'];
  const seesNodes = any(`${from}.nodes.enabled`);
  const schedules = any(
    'controlPlane.distro.k8s.scheduler.enabled',
    'controlPlane.advanced.virtualScheduler.enabled',
    `${to}.pods.hybridScheduling.enabled`,
  );
  const proxiesKubelets = any('networking.advanced.proxyKubelets.byIP', 'networking.advanced.proxyKubelets.byHostname');
  const storage = (name: string) => rule('storage.k8s.io', [name], READ);
  const has = (path: string) => {
    const found = at(config, path);
    return Array.isArray(found) ? found.length > 0 : isBranch(found) && Object.keys(found).length > 0;
  };
  return [
    ...when(seesNodes, rule('', ['pods', 'nodes', 'nodes/status'], READ)),
    ...when(seesNodes && proxiesKubelets, rule('', ['nodes/metrics', 'nodes/stats', 'nodes/proxy'], ['get'])),
    ...when(seesNodes && any(`${from}.nodes.syncBackChanges`), rule('', ['nodes', 'nodes/status'], CHANGE)),
    ...when(
      schedules,
      rule('storage.k8s.io', ['storageclasses', 'csinodes', 'csidrivers', 'csistoragecapacities'], READ),
    ),
    ...when(any(`${from}.storageClasses.enabled`), storage('storageclasses')),
    ...when(any(`${from}.csiNodes.enabled`), storage('csinodes')),
    ...when(any(`${from}.csiDrivers.enabled`), storage('csidrivers')),
    ...when(any(`${from}.csiStorageCapacities.enabled`), storage('csistoragecapacities')),
    ...when(any(`${to}.persistentVolumes.enabled`), rule('', ['persistentvolumes'], ALL)),
    ...when(any(`${from}.ingressClasses.enabled`), rule('networking.k8s.io', ['ingressclasses'], READ)),
    ...when(any(`${from}.runtimeClasses.enabled`), rule('node.k8s.io', ['runtimeclasses'], READ)),
    ...when(any(`${to}.storageClasses.enabled`), rule('storage.k8s.io', ['storageclasses'], ALL)),
    ...when(
      any(`${to}.priorityClasses.enabled`, `${from}.priorityClasses.enabled`),
      rule('scheduling.k8s.io', ['priorityclasses'], ALL),
    ),
    ...when(
      any(`${to}.resourceClaims.enabled`, `${to}.resourceClaimTemplates.enabled`, `${from}.deviceClasses.enabled`),
      rule('resource.k8s.io', ['deviceclasses'], READ),
    ),
    ...when(
      any(`${from}.volumeSnapshotClasses.enabled`),
      rule('snapshot.storage.k8s.io', ['volumesnapshotclasses'], READ),
    ),
    ...when(
      any(`${to}.volumeSnapshotContents.enabled`),
      rule('snapshot.storage.k8s.io', ['volumesnapshotcontents'], ALL),
    ),
    ...when(has('networking.replicateServices.fromHost'), rule('', ['services', 'endpoints'], READ)),
    ...when(
      any('integrations.metricsServer.enabled') && any('integrations.metricsServer.nodes'),
      rule('metrics.k8s.io', ['nodes'], ['get', 'list']),
    ),
    ...when(
      has(`${to}.customResources`) || has(`${from}.customResources`),
      rule('apiextensions.k8s.io', ['customresourcedefinitions'], READ),
    ),
    ...customResources(config, `${from}.customResources`, READ),
  ];
}

/** Keys are `plural.group`, with or without a version behind a slash. */
function customResources(config: JsonObject, path: string, verbs: string[]): Rule[] {
  const listed = at(config, path);
  if (!isBranch(listed)) return [];
  return Object.entries(listed).flatMap(([name, settings]) => {
    if (!isBranch(settings) || !isOn(settings, 'enabled')) return [];
    const [plural = '', ...group] = (name.split('/')[0] ?? '').split('.');
    return [rule(group.join('.'), [plural], verbs)];
  });
}

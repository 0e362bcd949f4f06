/**
 * Extra values of `vcluster.yaml`: those we carry out. What would need objects that we do not make, or belongs to a field of the spec, is refused by
 * name rather than ignored. Spelling below these paths is checked by vcluster, which refuses to start with a key it does not know.
 */
import { RookeryError } from '../../errors.ts';
import { isBranch, type JsonObject, leaves } from './json-tree.ts';

const CARRIED_OUT = [
  'controlPlane.coredns',
  'controlPlane.distro.k8s.apiServer',
  'controlPlane.distro.k8s.controllerManager',
  'controlPlane.distro.k8s.env',
  'controlPlane.distro.k8s.resources',
  'controlPlane.distro.k8s.scheduler',
  'controlPlane.distro.k8s.securityContext',
  'controlPlane.statefulSet.dnsConfig',
  'controlPlane.statefulSet.dnsPolicy',
  'controlPlane.statefulSet.env',
  'controlPlane.statefulSet.hostAliases',
  'controlPlane.statefulSet.pods',
  'controlPlane.statefulSet.probes',
  'controlPlane.statefulSet.resources',
  'controlPlane.statefulSet.runtimeClassName',
  'controlPlane.statefulSet.scheduling',
  'controlPlane.statefulSet.security',
  'experimental.deploy.vcluster',
  'experimental.syncSettings',
  'integrations.metricsServer',
  'logging',
  'networking.advanced',
  'networking.replicateServices',
  'networking.resolveDNS',
  'policies.centralAdmission',
  'policies.podSecurityStandard',
  'sync.fromHost',
  'sync.toHost',
  'telemetry',
];

const REFUSED: Record<string, string> = {
  'sync.toHost.namespaces': 'it would put objects into namespaces that cannot be told from those of others',
  'sync.fromHost.configMaps': 'it would give the cluster rights on other namespaces of the host',
  'sync.fromHost.secrets': 'it would give the cluster rights on other namespaces of the host',
  'experimental.syncSettings.setOwner': 'without it synced objects are not removed with the cluster',
};

export function checkedValues(values: Record<string, unknown>): JsonObject {
  if (!isBranch(values)) throw refusal('values', 'it is no mapping');
  for (const path of leaves(values)) {
    const why = Object.entries(REFUSED).find(([refused]) => isBelow(path, refused))?.[1];
    if (why) throw refusal(path, why);
    if (!CARRIED_OUT.some((allowed) => isBelow(path, allowed))) {
      throw refusal(path, 'it is a field of the spec, or needs objects that Rookery does not make');
    }
  }
  return values;
}

const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}.`);

function refusal(path: string, why: string): RookeryError {
  return new RookeryError('vcluster.values', `values.${path} cannot be set: ${why}`, {
    class: 'user',
    hint: 'take it out; docs/provisioners/vcluster.md lists what can be set',
  });
}

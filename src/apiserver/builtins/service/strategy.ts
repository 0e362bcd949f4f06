/** Services: defaults and upkeep. Addresses and node ports are given out by admission (`service-ips.ts`). */
import { type Any, assign, defaultEmpty, defaultTo, ensure, items, same } from '../fields.ts';
import type { KindRules } from '../kind.ts';
import { validateService, validateServiceUpdate } from './validation.ts';

const DAY_PART = 10800;

export function defaultService(service: Any): void {
  const spec = ensure(service, 'spec');
  defaultEmpty(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds == null) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: DAY_PART } };
  }
  if (spec.clusterIP && items(spec.clusterIPs).length === 0) spec.clusterIPs = [spec.clusterIP];
  for (const port of items(spec.ports)) {
    defaultEmpty(port, { protocol: 'TCP' });
    defaultEmpty(port, { targetPort: port.port });
  }
  const balancer = spec.type === 'LoadBalancer';
  const external =
    balancer || spec.type === 'NodePort' || (spec.type === 'ClusterIP' && items(spec.externalIPs).length > 0);
  if (external) defaultEmpty(spec, { externalTrafficPolicy: 'Cluster' });
  if (spec.type !== 'ExternalName') defaultTo(spec, { internalTrafficPolicy: 'Cluster' });
  if (balancer) defaultTo(spec, { allocateLoadBalancerNodePorts: true });
  const status = ensure(service, 'status');
  ensure(status, 'loadBalancer');
  if (balancer)
    for (const point of items(status.loadBalancer.ingress)) if (point.ip) defaultTo(point, { ipMode: 'VIP' });
}

/** What an update leaves out but may not lose: addresses and node ports stay (pkg/registry/core/service/storage). */
function patchAllocated(service: Any, old: Any): void {
  const spec = service.spec;
  const before = old.spec ?? {};
  const hasIP = (type: string) => type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer';
  if (hasIP(before.type) && hasIP(spec.type)) {
    if (!spec.clusterIP && items(spec.clusterIPs).length === 0) {
      assign(spec, 'clusterIP', before.clusterIP);
      assign(spec, 'clusterIPs', before.clusterIPs && [...before.clusterIPs]);
    }
    // A client that knows only the older field changes that one.
    const list = items(spec.clusterIPs);
    if (spec.clusterIP && spec.clusterIP !== before.clusterIP && same(list, before.clusterIPs))
      spec.clusterIPs = [spec.clusterIP];
    if (!spec.clusterIP && list.length && same(list, before.clusterIPs)) delete spec.clusterIPs;
    if (!spec.ipFamilyPolicy) assign(spec, 'ipFamilyPolicy', before.ipFamilyPolicy);
    if (items(spec.ipFamilies).length === 0) assign(spec, 'ipFamilies', before.ipFamilies && [...before.ipFamilies]);
  }
  const nodePorts = (type: string) => type === 'NodePort' || type === 'LoadBalancer';
  if (nodePorts(before.type) && nodePorts(spec.type)) keepNodePorts(spec, before);
  if (spec.type === 'LoadBalancer' && before.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local') {
    if (before.externalTrafficPolicy === 'Local' && !spec.healthCheckNodePort) {
      assign(spec, 'healthCheckNodePort', before.healthCheckNodePort);
    }
  }
}

function keepNodePorts(spec: Any, before: Any): void {
  const taken = new Set(
    items(spec.ports)
      .map((port) => port.nodePort)
      .filter(Boolean),
  );
  const old = new Map(items(before.ports).map((port) => [`${port.protocol}/${port.port}`, port.nodePort]));
  for (const port of items(spec.ports)) {
    if (port.nodePort) continue;
    const number = old.get(`${port.protocol}/${port.port}`);
    if (number && !taken.has(number)) port.nodePort = number;
  }
}

/** Changing the type drops what only the old type had, where the user did not touch it (dropTypeDependentFields). */
function dropTypeDependent(service: Any, old: Any): void {
  const spec = service.spec;
  const before = old.spec ?? {};
  if (spec.type === before.type) return;
  const needsIP = spec.type !== 'ExternalName';
  if (before.type !== 'ExternalName' && !needsIP) {
    for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      if (same(spec[name], before[name])) delete spec[name];
    }
    if (spec.internalTrafficPolicy === before.internalTrafficPolicy) delete spec.internalTrafficPolicy;
  }
  const ported = (type: string) => type === 'NodePort' || type === 'LoadBalancer';
  if (ported(before.type) && !ported(spec.type)) {
    const had = new Set(items(before.ports).map((port) => port.nodePort));
    if (items(spec.ports).every((port) => !port.nodePort || had.has(port.nodePort))) {
      for (const port of items(spec.ports)) delete port.nodePort;
    }
    if (spec.externalTrafficPolicy === before.externalTrafficPolicy) delete spec.externalTrafficPolicy;
  }
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    for (const name of ['healthCheckNodePort', 'allocateLoadBalancerNodePorts', 'loadBalancerClass']) {
      if (same(spec[name], before[name])) delete spec[name];
    }
  }
  if (before.type === 'ExternalName' && spec.externalName === before.externalName) delete spec.externalName;
}

export const serviceRules: KindRules = {
  createOnUpdate: true,
  status: { loadBalancer: {} },
  defaults: defaultService,
  prepareUpdate: (service, old) => {
    patchAllocated(service, old);
    dropTypeDependent(service, old);
  },
  validate: validateService,
  validateUpdate: validateServiceUpdate,
};

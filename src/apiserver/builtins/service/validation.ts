/** What a Service must satisfy; node port ranges are checked where ports are given out (admission/service-ips.ts). */
import { type FieldError, field } from '../../status.ts';
import { cidr, ip, isIPv6, label, oneOf, optionalOneOf, portOrName, qualified, subdomain } from '../checks.ts';
import { type Any, items, same } from '../fields.ts';
import { validateLabels } from '../metadata-validation.ts';
import { portNumber } from '../names.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'";

const isHeadless = (spec: Any) => spec.clusterIP === 'None' || spec.clusterIPs?.[0] === 'None';

function isExternal(spec: Any): boolean {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') return true;
  return spec.type === 'ClusterIP' && items(spec.externalIPs).length > 0;
}

function validatePorts(spec: Any): FieldError[] {
  const errors: FieldError[] = [];
  const ports = items(spec.ports);
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const here = `spec.ports[${index}]`;
    if (ports.length > 1 && !port.name) errors.push(field.required(`${here}.name`));
    else if (port.name) {
      errors.push(...label(port.name, `${here}.name`));
      if (names.has(port.name)) errors.push(field.duplicate(`${here}.name`, port.name));
      names.add(port.name);
    }
    for (const text of portNumber(port.port ?? 0)) errors.push(field.invalid(`${here}.port`, port.port ?? 0, text));
    errors.push(...oneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], `${here}.protocol`));
    errors.push(...portOrName(port.targetPort, `${here}.targetPort`));
    if (port.appProtocol) errors.push(...qualified(port.appProtocol, `${here}.appProtocol`));
  }
  return errors;
}

function validateDuplicates(spec: Any): FieldError[] {
  const errors: FieldError[] = [];
  const nodePorts = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, port] of items(spec.ports).entries()) {
    const here = `spec.ports[${index}]`;
    if (spec.type === 'ClusterIP' && port.nodePort) {
      errors.push(field.forbidden(`${here}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
    if (port.nodePort) {
      const key = `${port.protocol}/${port.nodePort}`;
      if (nodePorts.has(key)) errors.push(field.duplicate(`${here}.nodePort`, port.nodePort));
      nodePorts.add(key);
    }
  }
  for (const [index, port] of items(spec.ports).entries()) {
    const key = `${port.protocol}/${port.port}`;
    if (numbers.has(key)) {
      const shown = {
        Name: '',
        Protocol: port.protocol,
        AppProtocol: null,
        Port: port.port,
        TargetPort: 0,
        NodePort: 0,
      };
      errors.push(field.duplicate(`spec.ports[${index}]`, shown));
    }
    numbers.add(key);
  }
  return errors;
}

function validateByType(spec: Any): FieldError[] {
  const errors: FieldError[] = [];
  const { type } = spec;
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    errors.push(field.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  if (type !== 'ExternalName') return errors;
  const forbidden = 'may not be set for ExternalName services';
  for (const name of ['clusterIPs', 'ipFamilies']) {
    if (items(spec[name]).length) errors.push(field.forbidden(`spec.${name}`, forbidden));
  }
  if (spec.ipFamilyPolicy) errors.push(field.forbidden('spec.ipFamilyPolicy', forbidden));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  errors.push(...(name ? subdomain(name, 'spec.externalName') : [field.required('spec.externalName')]));
  return errors;
}

function validateAddresses(spec: Any): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const errors: FieldError[] = [];
  const ips = items(spec.clusterIPs);
  if (spec.clusterIP && ips.length && ips[0] !== spec.clusterIP) {
    errors.push(field.invalid('spec.clusterIPs', ips, 'first value must match `clusterIP`'));
  } else if (!spec.clusterIP && ips.length) {
    errors.push(field.invalid('spec.clusterIPs', ips, 'must be empty when `clusterIP` is not specified'));
  }
  const families = new Set<string>();
  for (const [index, family] of items(spec.ipFamilies).entries()) {
    const here = `spec.ipFamilies[${index}]`;
    if (family !== 'IPv4' && family !== 'IPv6') errors.push(field.notSupported(here, family, ['IPv4', 'IPv6']));
    if (families.has(family)) errors.push(field.duplicate(here, family));
    families.add(family);
  }
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  errors.push(...optionalOneOf(spec.ipFamilyPolicy, policies, 'spec.ipFamilyPolicy'));
  for (const [index, address] of ips.entries()) {
    if (index === 0 && address === 'None') {
      if (ips.length > 1) errors.push(field.invalid('spec.clusterIPs', ips, "'None' must be the first and only value"));
      continue;
    }
    errors.push(...ip(address, `spec.clusterIPs[${index}]`));
    const family = spec.ipFamilies?.[index];
    if (family && (family === 'IPv6') !== isIPv6(address)) {
      const text = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
      errors.push(field.invalid(`spec.clusterIPs[${index}]`, address, text));
    }
  }
  if (ips.length > 2) errors.push(field.invalid('spec.clusterIPs', ips, 'may only hold up to 2 values'));
  return errors;
}

function validateTraffic(spec: Any): FieldError[] {
  const errors: FieldError[] = [];
  const policies = ['Cluster', 'Local'];
  const { externalTrafficPolicy: external, healthCheckNodePort: health } = spec;
  if (!isExternal(spec)) {
    if (external) {
      const text = 'may only be set for externally-accessible services';
      errors.push(field.invalid('spec.externalTrafficPolicy', external, text));
    }
  } else errors.push(...oneOf(external, policies, 'spec.externalTrafficPolicy'));
  if (health && !(spec.type === 'LoadBalancer' && external === 'Local')) {
    const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(field.invalid('spec.healthCheckNodePort', health, text));
  }
  errors.push(...optionalOneOf(spec.internalTrafficPolicy, policies, 'spec.internalTrafficPolicy'));
  const distributions = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];
  errors.push(...optionalOneOf(spec.trafficDistribution, distributions, 'spec.trafficDistribution'));
  return errors;
}

function validateBalancer(spec: Any): FieldError[] {
  const errors: FieldError[] = [];
  const ranges = items(spec.loadBalancerSourceRanges);
  if (ranges.length && spec.type !== 'LoadBalancer') {
    errors.push(field.forbidden('spec.LoadBalancerSourceRanges', BALANCER_ONLY));
  }
  for (const [index, range] of ranges.entries()) {
    errors.push(...cidr(String(range).trim(), `spec.LoadBalancerSourceRanges[${index}]`));
  }
  if (spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts != null) {
      errors.push(field.forbidden('spec.allocateLoadBalancerNodePorts', BALANCER_ONLY));
    }
    if (spec.loadBalancerClass != null) errors.push(field.forbidden('spec.loadBalancerClass', BALANCER_ONLY));
  }
  return errors;
}

export function validateService({ spec }: Any): FieldError[] {
  const errors: FieldError[] = [];
  if (items(spec.ports).length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName') {
    errors.push(field.required('spec.ports'));
  }
  errors.push(...validateByType(spec), ...validatePorts(spec));
  errors.push(...validateLabels(spec.selector ?? {}, 'spec.selector'));
  errors.push(...oneOf(spec.sessionAffinity, ['ClientIP', 'None'], 'spec.sessionAffinity'));
  const timeout = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (spec.sessionAffinity === 'ClientIP' && timeout != null && (timeout <= 0 || timeout > 86400)) {
    const path = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
    errors.push(field.invalid(path, timeout, 'must be greater than 0 and less than 86400'));
  }
  errors.push(...validateAddresses(spec));
  for (const [index, address] of items(spec.externalIPs).entries())
    errors.push(...ip(address, `spec.externalIPs[${index}]`));
  errors.push(...oneOf(spec.type, TYPES, 'spec.type'));
  errors.push(...validateDuplicates(spec), ...validateBalancer(spec), ...validateTraffic(spec));
  return errors;
}

export function validateServiceUpdate(service: Any, old: Any): FieldError[] {
  const errors: FieldError[] = [];
  const now = items(service.spec.clusterIPs);
  const before = items(old.spec?.clusterIPs);
  const relevant = service.spec.type !== 'ExternalName' && old.spec?.type !== 'ExternalName';
  if (relevant && !(isHeadless(service.spec) && isHeadless(old.spec))) {
    if (now.length === 0 && before.length) {
      errors.push(field.invalid('spec.clusterIPs[0]', null, 'primary clusterIP can not be unset'));
    } else {
      for (const [index, address] of before.entries()) {
        if (index >= now.length || address === now[index]) continue;
        errors.push(field.invalid(`spec.clusterIPs[${index}]`, now, 'may not change once set'));
      }
    }
  }
  if (service.spec.type === 'LoadBalancer' && old.spec?.type === 'LoadBalancer') {
    if (!same(service.spec.loadBalancerClass, old.spec.loadBalancerClass)) {
      errors.push(
        field.invalid('spec.loadBalancerClass', service.spec.loadBalancerClass ?? null, 'may not change once set'),
      );
    }
    const health = service.spec.healthCheckNodePort;
    if (old.spec.healthCheckNodePort && health && health !== old.spec.healthCheckNodePort) {
      errors.push(field.invalid('spec.healthCheckNodePort', health, 'field is immutable'));
    }
  }
  return [...errors, ...validateService(service)];
}

/** Ingresses, network policies, endpoint slices (pkg/apis/networking and discovery validation). */
import { BlockList } from 'node:net';
import { type FieldError, field } from '../status.ts';
import {
  cidr,
  immutable,
  ip,
  isIPv4,
  isIPv6,
  label,
  labelSelector,
  oneOf,
  portOrName,
  qualified,
  subdomain,
} from './checks.ts';
import { endpointIP } from './core-validation.ts';
import { type Any, items } from './fields.ts';
import { dns1035Label, dns1123Subdomain, portName, portNumber, wildcardSubdomain } from './names.ts';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const BAD_ENDINGS = ['/..', '/.'];

function validateHost(host: string, path: string): FieldError[] {
  const check = host.includes('*') ? wildcardSubdomain : dns1123Subdomain;
  return check(host).map((text) => field.invalid(path, host, text));
}

function validateBackend(backend: Any, path: string): FieldError[] {
  const { resource, service } = backend ?? {};
  if (resource && service) return [field.invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) {
    return ['kind', 'name'].filter((name) => !resource[name]).map((name) => field.required(`${path}.resource.${name}`));
  }
  if (!service) return [field.invalid(path, '', 'resource or service backend is required')];
  const errors: FieldError[] = [];
  if (!service.name) errors.push(field.required(`${path}.service.name`));
  else
    for (const text of dns1035Label(service.name))
      errors.push(field.invalid(`${path}.service.name`, service.name, text));
  const { name, number } = service.port ?? {};
  if (name && number) errors.push(field.invalid(path, '', 'cannot set both port name & port number'));
  else if (name) {
    for (const text of portName(name)) errors.push(field.invalid(`${path}.service.port.name`, name, text));
  } else if (number) {
    for (const text of portNumber(number)) errors.push(field.invalid(`${path}.service.port.number`, number, text));
  } else errors.push(field.required(path, 'port name or number is required'));
  return errors;
}

function validatePath(rule: Any, path: string): FieldError[] {
  const { pathType, path: target = '' } = rule;
  if (pathType === undefined || pathType === null)
    return [field.required(`${path}.pathType`, 'pathType must be specified')];
  const errors: FieldError[] = [];
  const absolute = () => {
    if (!target.startsWith('/')) errors.push(field.invalid(`${path}.path`, target, 'must be an absolute path'));
  };
  if (pathType === 'Exact' || pathType === 'Prefix') {
    absolute();
    for (const bad of BAD_SEQUENCES) {
      if (target.includes(bad)) errors.push(field.invalid(`${path}.path`, target, `must not contain '${bad}'`));
    }
    for (const bad of BAD_ENDINGS) {
      if (target.endsWith(bad)) errors.push(field.invalid(`${path}.path`, target, `cannot end with '${bad}'`));
    }
  } else if (pathType === 'ImplementationSpecific') {
    if (target) absolute();
  } else errors.push(field.notSupported(`${path}.pathType`, pathType, PATH_TYPES));
  return [...errors, ...validateBackend(rule.backend, `${path}.backend`)];
}

export function validateIngress({ spec = {} }: Any): FieldError[] {
  const errors: FieldError[] = [];
  if (items(spec.rules).length === 0 && !spec.defaultBackend) {
    errors.push(field.invalid('spec', spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (spec.defaultBackend) errors.push(...validateBackend(spec.defaultBackend, 'spec.defaultBackend'));
  for (const [index, rule] of items(spec.rules).entries()) {
    const here = `spec.rules[${index}]`;
    if (rule.host) {
      if (isIPv4(rule.host) || isIPv6(rule.host)) {
        errors.push(field.invalid(`${here}.host`, rule.host, 'must be a DNS name, not an IP address'));
      }
      errors.push(...validateHost(rule.host, `${here}.host`));
    }
    if (!rule.http) continue;
    const paths = items(rule.http.paths);
    if (paths.length === 0) errors.push(field.required(`${here}.http.paths`));
    for (const [at, path] of paths.entries()) errors.push(...validatePath(path, `${here}.http.paths[${at}]`));
  }
  for (const [index, tls] of items(spec.tls).entries()) {
    for (const [at, host] of items(tls.hosts).entries())
      errors.push(...validateHost(host, `spec.tls[${index}].hosts[${at}]`));
    if (tls.secretName) errors.push(...subdomain(tls.secretName, `spec.tls[${index}].secretName`));
  }
  if (spec.ingressClassName != null) errors.push(...subdomain(spec.ingressClassName, 'spec.ingressClassName'));
  return errors;
}

export function validateIngressClass({ spec = {} }: Any): FieldError[] {
  const path = 'spec.controller';
  const controller: string = spec.controller ?? '';
  const errors: FieldError[] = [];
  const slash = controller.indexOf('/');
  if (!controller) errors.push(field.required(path));
  else if (slash <= 0 || slash === controller.length - 1) {
    errors.push(field.invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  } else errors.push(...subdomain(controller.slice(0, slash), path));
  const parameters = spec.parameters;
  if (!parameters) return errors;
  for (const name of ['kind', 'name']) {
    if (!parameters[name]) errors.push(field.required(`spec.parameters.${name}`));
  }
  const scopes = ['Cluster', 'Namespace'];
  if (!scopes.includes(parameters.scope)) {
    return [...errors, field.notSupported('spec.parameters.scope', parameters.scope, scopes)];
  }
  if (parameters.scope === 'Namespace' && !parameters.namespace) {
    errors.push(field.required('spec.parameters.namespace', "`parameters.scope` is set to 'Namespace'"));
  }
  if (parameters.scope === 'Cluster' && parameters.namespace) {
    errors.push(field.forbidden('spec.parameters.namespace', "`parameters.scope` is set to 'Cluster'"));
  }
  return errors;
}

export function validateIngressClassUpdate(object: Any, old: Any): FieldError[] {
  return [
    ...immutable(object.spec?.controller, old.spec?.controller, 'spec.controller'),
    ...validateIngressClass(object),
  ];
}

/** Whether one range lies within another and is smaller; both are valid, or nothing is said of them. */
function isStrictlyInside(range: string, whole: Any): boolean {
  if (cidr(whole, '').length > 0) return true;
  const [address = '', bits = ''] = range.split('/');
  const [network = '', wholeBits = ''] = String(whole).split('/');
  if (Number(bits) <= Number(wholeBits)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(wholeBits), isIPv4(network) ? 'ipv4' : 'ipv6');
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function validatePolicyPort(port: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const protocols = ['TCP', 'UDP', 'SCTP'];
  if (port.protocol && !protocols.includes(port.protocol)) {
    errors.push(field.notSupported(`${path}.protocol`, port.protocol, protocols));
  }
  const end = port.endPort;
  if (port.port === undefined) {
    if (end != null)
      errors.push(field.invalid(`${path}.endPort`, end, 'may not be specified when `port` is not specified'));
    return errors;
  }
  errors.push(...portOrName(port.port, `${path}.port`));
  if (end == null) return errors;
  if (typeof port.port === 'string') {
    errors.push(field.invalid(`${path}.endPort`, end, 'may not be specified when `port` is non-numeric'));
  } else if (end < port.port) {
    errors.push(field.invalid(`${path}.endPort`, port.port, 'must be greater than or equal to `port`'));
  }
  return errors;
}

function validatePeer(peer: Any, path: string): FieldError[] {
  const errors = [
    ...labelSelector(peer.podSelector, `${path}.podSelector`),
    ...labelSelector(peer.namespaceSelector, `${path}.namespaceSelector`),
  ];
  const { ipBlock } = peer;
  if (ipBlock) {
    if (!ipBlock.cidr) errors.push(field.required(`${path}.ipBlock.cidr`));
    else errors.push(...cidr(ipBlock.cidr, `${path}.ipBlock.cidr`));
    for (const [index, range] of items(ipBlock.except).entries()) {
      const here = `${path}.ipBlock.except[${index}]`;
      const wrong = cidr(range, here);
      errors.push(...wrong);
      if (wrong.length === 0 && !isStrictlyInside(range, ipBlock.cidr)) {
        errors.push(field.invalid(here, range, 'must be a strict subset of `cidr`'));
      }
    }
  }
  const count = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((name) => peer[name]).length;
  if (count === 0) errors.push(field.required(path, 'must specify a peer'));
  else if (count > 1 && ipBlock) errors.push(field.forbidden(path, 'may not specify both ipBlock and another peer'));
  return errors;
}

export function validateNetworkPolicy({ spec }: Any): FieldError[] {
  const errors = labelSelector(spec.podSelector, 'spec.podSelector');
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [index, rule] of items(spec[direction]).entries()) {
      const here = `spec.${direction}[${index}]`;
      for (const [at, port] of items(rule.ports).entries())
        errors.push(...validatePolicyPort(port, `${here}.ports[${at}]`));
      for (const [at, peer] of items(rule[peers]).entries())
        errors.push(...validatePeer(peer, `${here}.${peers}[${at}]`));
    }
  }
  const types = items(spec.policyTypes);
  if (types.length > 2) {
    return [...errors, field.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  }
  for (const [index, type] of types.entries()) {
    if (type !== 'Ingress' && type !== 'Egress') {
      errors.push(field.notSupported(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']));
    }
  }
  return errors;
}

function validateSliceAddress(address: string, type: string, path: string, at: string): FieldError[] {
  if (type === 'FQDN') return subdomain(address, at);
  const errors = ip(address, at);
  if (errors.length) return errors;
  if (type === 'IPv4' && !isIPv4(address)) errors.push(field.invalid(path, address, 'must be an IPv4 address'));
  if (type === 'IPv6' && !isIPv6(address)) errors.push(field.invalid(path, address, 'must be an IPv6 address'));
  return [...errors, ...endpointIP(address, at)];
}

export function validateEndpointSlice(slice: Any): FieldError[] {
  const errors = oneOf(slice.addressType, ['FQDN', 'IPv4', 'IPv6'], 'addressType');
  const names = new Set<string>();
  for (const [index, port] of items(slice.ports).entries()) {
    const here = `ports[${index}]`;
    if (port.name) errors.push(...label(port.name, `${here}.name`));
    if (names.has(port.name)) errors.push(field.duplicate(`${here}.name`, port.name));
    names.add(port.name);
    errors.push(...oneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], `${here}.protocol`));
    if (port.appProtocol) errors.push(...qualified(port.appProtocol, `${here}.appProtocol`));
  }
  const endpoints = items(slice.endpoints);
  if (endpoints.length > 1000) return [...errors, field.tooMany('endpoints', endpoints.length, 1000)];
  for (const [index, endpoint] of endpoints.entries()) {
    const path = `endpoints[${index}].addresses`;
    const addresses = items(endpoint.addresses);
    if (addresses.length === 0) errors.push(field.required(path, 'must contain at least 1 address'));
    else if (addresses.length > 100) errors.push(field.tooMany(path, addresses.length, 100));
    for (const [at, address] of addresses.entries()) {
      errors.push(...validateSliceAddress(address, slice.addressType, path, `${path}[${at}]`));
    }
    if (endpoint.nodeName) errors.push(...subdomain(endpoint.nodeName, `endpoints[${index}].nodeName`));
    if (endpoint.hostname) errors.push(...label(endpoint.hostname, `endpoints[${index}].hostname`));
  }
  return errors;
}

export function validateEndpointSliceUpdate(slice: Any, old: Any): FieldError[] {
  return [...validateEndpointSlice(slice), ...immutable(slice.addressType, old.addressType, 'addressType')];
}

/**
 * Cluster IPs and node ports, given out inside the write's transaction: what the other services hold at that moment is
 * taken, everything else is free, so nothing has to be released or repaired. The first pick comes from the service's
 * uid, then on from there; addresses below `.11` of the range are left to those who ask by name (DNS takes `.10`).
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../api/object.ts';
import { type Any, items } from '../builtins/fields.ts';
import { ApiError, type FieldError, field, invalid } from '../status.ts';
import type { Stored, Transaction } from '../store/store.ts';
import { type AdmissionAttributes, type AdmissionPlugin, isResource } from './admission.ts';

export interface ServiceRange {
  /** IPv4 CIDR. Default 10.96.0.0/16. */
  cidr: string;
  nodePorts: { from: number; to: number };
}

export const DEFAULT_RANGE: ServiceRange = { cidr: '10.96.0.0/16', nodePorts: { from: 30000, to: 32767 } };
const STATIC_ADDRESSES = 256;
const STATIC_PORTS = 86;

function toNumber(ip: string): number | undefined {
  const parts = ip.split('.');
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

const toText = (ip: number) => [24, 16, 8, 0].map((shift) => Math.floor(ip / 2 ** shift) % 256).join('.');

/** First and last usable address; the first is the `kubernetes` service's. */
function bounds(cidr: string): { base: number; first: number; last: number } {
  const [network = '', bits = '16'] = cidr.split('/');
  const size = 2 ** (32 - Number(bits));
  const base = Math.floor((toNumber(network) ?? 0) / size) * size;
  return { base, first: base + 1, last: base + size - 2 };
}

function start(seed: string, size: number): number {
  return createHash('sha256').update(seed).digest().readUInt32BE(0) % size;
}

function failure(service: KubeObject, errors: FieldError[]): ApiError {
  return invalid('', 'Service', service.metadata.name ?? '', errors);
}

interface Taken {
  ips: Set<string>;
  ports: Set<number>;
}

/** What one version of one service holds; kept so that a create need not parse every other service again. */
interface Holding {
  rv: number;
  size: number;
  ips: string[];
  ports: number[];
}

function holding(stored: Stored): Holding {
  const { spec } = stored.object();
  const ports = items(spec?.ports).map((port) => port.nodePort);
  return {
    rv: stored.rv,
    size: stored.json.length,
    ips: items(spec?.clusterIPs).filter((ip) => ip && ip !== 'None'),
    ports: [...ports, spec?.healthCheckNodePort].filter(Boolean),
  };
}

class Holdings {
  #known = new Map<string, Holding>();

  /** What services other than this one hold. */
  taken(tx: Transaction, attributes: AdmissionAttributes): Taken {
    const known = new Map<string, Holding>();
    const found: Taken = { ips: new Set(), ports: new Set() };
    for (const stored of tx.list('/services')) {
      const { namespace, name } = stored.key;
      const before = this.#known.get(`${namespace}/${name}`);
      const same = before?.rv === stored.rv && before.size === stored.json.length;
      const held = before && same ? before : holding(stored);
      known.set(`${namespace}/${name}`, held);
      if (namespace === attributes.namespace && name === attributes.object?.metadata.name) continue;
      for (const ip of held.ips) found.ips.add(ip);
      for (const port of held.ports) found.ports.add(port);
    }
    this.#known = known;
    return found;
  }
}

function assignIP(service: KubeObject, held: Taken, range: ServiceRange, dryRun: boolean): void {
  const { spec } = service;
  const { base, first, last } = bounds(range.cidr);
  const wanted: string = spec.clusterIP || items(spec.clusterIPs)[0] || '';
  if (wanted === 'None') {
    spec.clusterIP = 'None';
    spec.clusterIPs = ['None'];
  } else if (wanted) {
    const number = toNumber(wanted);
    const problem = (text: string) =>
      failure(service, [field.invalid('spec.clusterIPs', [wanted], `failed to allocate IP ${wanted}: ${text}`)]);
    if (number === undefined || number < first || number > last) {
      // Upstream's dry run has an allocator of its own, with words of its own.
      const outside = `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${range.cidr}`;
      throw problem(dryRun ? outside : 'the provided network does not match the current range');
    }
    if (held.ips.has(wanted)) throw problem('provided IP is already allocated');
    spec.clusterIP = wanted;
    spec.clusterIPs = [wanted];
  } else {
    const ip = freeIP(`${service.metadata.uid}`, held, base, first, last);
    if (!ip)
      throw new ApiError(
        500,
        'InternalError',
        'Internal error occurred: failed to allocate a serviceIP: range is full',
      );
    spec.clusterIP = ip;
    spec.clusterIPs = [ip];
  }
  spec.ipFamilyPolicy ||= 'SingleStack';
  if (items(spec.ipFamilies).length === 0) spec.ipFamilies = ['IPv4'];
}

function freeIP(seed: string, held: Taken, base: number, first: number, last: number): string | undefined {
  const lower = Math.min(base + STATIC_ADDRESSES, last);
  const size = last - lower + 1;
  const offset = start(seed, size);
  for (let step = 0; step < size; step++) {
    const ip = toText(lower + ((offset + step) % size));
    if (!held.ips.has(ip)) return ip;
  }
  for (let number = first + 1; number < lower; number++) if (!held.ips.has(toText(number))) return toText(number);
  return undefined;
}

function freePort(seed: string, used: Set<number>, range: ServiceRange): number | undefined {
  const { from, to } = range.nodePorts;
  const lower = Math.min(from + STATIC_PORTS, to);
  const size = to - lower + 1;
  const offset = start(seed, size);
  for (let step = 0; step < size; step++) {
    const port = lower + ((offset + step) % size);
    if (!used.has(port)) return port;
  }
  for (let port = from; port < lower; port++) if (!used.has(port)) return port;
  return undefined;
}

/** Two ports of one service may share a node port when only the protocol differs. */
function assignPorts(service: KubeObject, held: Taken, range: ServiceRange): void {
  const { from, to } = range.nodePorts;
  const used = new Set(held.ports);
  for (const [index, port] of items(service.spec.ports).entries()) {
    const { nodePort } = port;
    if (!nodePort) continue;
    const path = `spec.ports[${index}].nodePort`;
    if (nodePort < from || nodePort > to) {
      const text = `provided port is not in the valid range. The range of valid ports is ${from}-${to}`;
      throw failure(service, [field.invalid(path, nodePort, text)]);
    }
    if (held.ports.has(nodePort))
      throw failure(service, [field.invalid(path, nodePort, 'provided port is already allocated')]);
    used.add(nodePort);
  }
  const give = (holder: Any, name: string, seed: string) => {
    const port = freePort(seed, used, range);
    if (port === undefined) {
      throw new ApiError(500, 'InternalError', 'Internal error occurred: failed to allocate a nodePort: range is full');
    }
    holder[name] = port;
    used.add(port);
  };
  const { spec, metadata } = service;
  const all = spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false;
  for (const [index, port] of items(spec.ports).entries()) {
    if (port.nodePort || !all) continue;
    const sibling = items(spec.ports).find(
      (other) => other.port === port.port && other.protocol !== port.protocol && other.nodePort,
    );
    if (sibling) port.nodePort = sibling.nodePort;
    else give(port, 'nodePort', `${metadata.uid}/${index}`);
  }
  if (spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local' && !spec.healthCheckNodePort) {
    give(spec, 'healthCheckNodePort', `${metadata.uid}/health`);
  }
}

export function serviceIPs(range: ServiceRange = DEFAULT_RANGE): AdmissionPlugin {
  const holdings = new Holdings();
  return {
    name: 'ServiceIPs',
    handles: (attributes) =>
      isResource(attributes, '', 'services') &&
      (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE'),
    commit(tx, attributes) {
      const service = attributes.object as KubeObject;
      const { type } = service.spec ?? {};
      if (!type || type === 'ExternalName') return;
      const held = holdings.taken(tx, attributes);
      assignIP(service, held, range, attributes.dryRun);
      if (type === 'NodePort' || type === 'LoadBalancer') assignPorts(service, held, range);
    },
  };
}

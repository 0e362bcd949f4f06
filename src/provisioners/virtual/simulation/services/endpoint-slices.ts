/** EndpointSlices: up to a hundred pods of a Service each; an endpoint stays in the slice it is in. */
import type { KubeObject } from '../../../../api/object.ts';
import { equal } from '../../../../apiserver/json.ts';
import { type Controller, itself, ownerOf } from '../controller.ts';
import { left } from '../deadlines.ts';
import { isDeleting, PODS } from '../pod.ts';
import { controllerRef, isControlledBy, type World } from '../world.ts';
import {
  type Endpoint,
  endpointsOf,
  isHeadless,
  type Port,
  pauseFor,
  SERVICES,
  servicesOfPod,
  targetOf,
} from './endpoint.ts';

export const SLICES = 'discovery.k8s.io/endpointslices';
const SERVICE_NAME = 'kubernetes.io/service-name';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const US = 'endpointslice-controller.k8s.io';
const MOST = 100;

interface Entry {
  addresses: string[];
  [field: string]: unknown;
}

export const endpointSlices: Controller = {
  name: 'endpointslice-controller',
  on: { [SERVICES]: itself, [PODS]: servicesOfPod, [SLICES]: ownerOf('Service') },
  async reconcile(world, namespace, name, again) {
    const service = world.cache.get(SERVICES, namespace, name);
    // The garbage collector takes the slices of a Service that is gone.
    if (!service || isDeleting(service) || !service.spec.selector || service.spec.type === 'ExternalName') return;
    const found = endpointsOf(world, service);
    const pause = left(world, `${service.metadata.uid}/slices`, undefined, pauseFor(found.length));
    if (pause > 0) return again(pause);
    const own = world.cache
      .list(SLICES, namespace)
      .filter((slice) => slice.metadata.labels?.[MANAGED_BY] === US && isControlledBy(slice, service))
      .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    const byPorts = new Map<string, { ports: Port[]; entries: Map<string, Entry> }>();
    for (const endpoint of found) {
      const key = JSON.stringify(endpoint.ports);
      const group = byPorts.get(key) ?? { ports: endpoint.ports, entries: new Map() };
      group.entries.set(endpoint.ip, entryOf(endpoint));
      byPorts.set(key, group);
    }
    // Even a Service without pods has a slice, so that its readers know it has none.
    if (byPorts.size === 0) byPorts.set('[]', { ports: [], entries: new Map() });
    const free = new Set(own);
    for (const [key, { ports, entries }] of byPorts) {
      const fitting = own.filter((slice) => JSON.stringify((slice.ports ?? []).map(plain)) === key);
      for (const slice of fitting) free.delete(slice);
      if (!fitting.length) {
        const spare = [...free].find((slice) => !slice.endpoints?.length);
        if (spare) {
          fitting.push(spare);
          free.delete(spare);
        }
      }
      await write(world, service, ports, distribute(entries, fitting));
    }
    await Promise.all([...free].map((slice) => world.remove(SLICES, slice)));
  },
};

interface Planned {
  slice?: KubeObject;
  endpoints: Entry[];
}

function distribute(entries: Map<string, Entry>, slices: KubeObject[]): Planned[] {
  const plans: Planned[] = slices.map((slice) => {
    const endpoints: Entry[] = [];
    for (const { addresses } of slice.endpoints ?? []) {
      const entry = entries.get(addresses[0]);
      if (entry) endpoints.push(entry);
      entries.delete(addresses[0]);
    }
    return { slice, endpoints };
  });
  for (const entry of entries.values()) {
    let plan = plans.find(({ endpoints }) => endpoints.length < MOST);
    if (!plan) {
      plan = { endpoints: [] };
      plans.push(plan);
    }
    plan.endpoints.push(entry);
  }
  if (!plans.length) plans.push({ endpoints: [] });
  return plans;
}

async function write(world: World, service: KubeObject, ports: Port[], plans: Planned[]): Promise<void> {
  const { name, namespace } = service.metadata;
  const labels = {
    ...service.metadata.labels,
    [SERVICE_NAME]: name as string,
    [MANAGED_BY]: US,
    ...(isHeadless(service) ? { 'service.kubernetes.io/headless': '' } : {}),
  };
  // Empty ones that are not the last go.
  const filled = plans.filter(({ endpoints }) => endpoints.length);
  const kept = filled.length ? filled : plans.slice(0, 1);
  for (const { slice } of plans)
    if (slice && !kept.some((plan) => plan.slice === slice)) await world.remove(SLICES, slice);
  for (const { slice, endpoints } of kept) {
    if (!slice) {
      await world.create(SLICES, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { generateName: `${name}-`, namespace, labels, ownerReferences: [controllerRef(service)] },
        addressType: service.spec.ipFamilies?.[0] ?? 'IPv4',
        endpoints,
        ports,
      });
    } else if (
      !equal(slice.endpoints ?? [], endpoints) ||
      !equal(slice.metadata.labels, labels) ||
      !equal((slice.ports ?? []).map(plain), ports)
    ) {
      await world.update(SLICES, slice, (draft) => {
        draft.metadata.labels = labels;
        draft.endpoints = endpoints;
        draft.ports = ports;
      });
    }
  }
}

function entryOf(endpoint: Endpoint): Entry {
  const { ready, serving, terminating } = endpoint;
  const { ip, ...target } = targetOf(endpoint);
  return { addresses: [ip], conditions: { ready, serving, terminating }, ...target };
}

function plain({ name = '', port, protocol, appProtocol }: Port): Port {
  return { name, port, protocol, ...(appProtocol ? { appProtocol } : {}) };
}

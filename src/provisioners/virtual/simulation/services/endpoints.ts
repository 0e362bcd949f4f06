/** Endpoints: the old form, one object for all of a Service's pods. */
import type { KubeObject } from '../../../../api/object.ts';
import { equal } from '../../../../apiserver/json.ts';
import { type Controller, itself } from '../controller.ts';
import { left } from '../deadlines.ts';
import { isDeleting, PODS } from '../pod.ts';
import { type Endpoint, endpointsOf, isHeadless, pauseFor, SERVICES, servicesOfPod, targetOf } from './endpoint.ts';

const ENDPOINTS = '/endpoints';
/** More are cut off, as upstream does; slices hold them all. */
const MOST = 1000;

export const endpoints: Controller = {
  name: 'endpoint-controller',
  on: { [SERVICES]: itself, [PODS]: servicesOfPod, [ENDPOINTS]: itself },
  async reconcile(world, namespace, name, again) {
    const service = world.cache.get(SERVICES, namespace, name);
    const known = world.cache.get(ENDPOINTS, namespace, name);
    if (!service) {
      // Only what was made for a Service goes with it.
      if (known?.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') {
        await world.remove(ENDPOINTS, known);
      }
      return;
    }
    if (isDeleting(service) || !service.spec.selector || service.spec.type === 'ExternalName') return;
    const found = endpointsOf(world, service);
    const pause = left(world, `${service.metadata.uid}/endpoints`, undefined, pauseFor(found.length));
    if (pause > 0) return again(pause);
    const subsets = subsetsOf(found.slice(0, MOST));
    const labels = {
      ...service.metadata.labels,
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
      ...(isHeadless(service) ? { 'service.kubernetes.io/headless': '' } : {}),
    };
    const annotations = found.length > MOST ? { 'endpoints.kubernetes.io/over-capacity': 'truncated' } : undefined;
    if (!known) {
      const metadata = { name, namespace, labels, ...(annotations ? { annotations } : {}) };
      await world.create(ENDPOINTS, {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata,
        ...(subsets.length ? { subsets } : {}),
      });
      return;
    }
    if (equal(known.subsets ?? [], subsets) && equal(known.metadata.labels, labels)) return;
    await world.update(ENDPOINTS, known, (draft) => {
      draft.metadata.labels = labels;
      if (annotations) draft.metadata.annotations = { ...draft.metadata.annotations, ...annotations };
      draft.subsets = subsets;
      if (!subsets.length) delete draft.subsets;
    });
  },
};

function subsetsOf(found: Endpoint[]): KubeObject['subsets'] {
  const byPorts = new Map<string, Endpoint[]>();
  for (const endpoint of found) {
    const key = JSON.stringify(endpoint.ports);
    byPorts.set(key, [...(byPorts.get(key) ?? []), endpoint]);
  }
  return [...byPorts.values()]
    .map((group) => {
      const addresses = group.filter((e) => e.ready).map(targetOf);
      const notReadyAddresses = group.filter((e) => !e.ready && !e.terminating).map(targetOf);
      const ports = (group[0]?.ports ?? []).map(({ name, ...port }) => (name ? { name, ...port } : port));
      return {
        ...(addresses.length ? { addresses } : {}),
        ...(notReadyAddresses.length ? { notReadyAddresses } : {}),
        ...(ports.length ? { ports } : {}),
      };
    })
    .filter((subset) => subset.addresses || subset.notReadyAddresses);
}

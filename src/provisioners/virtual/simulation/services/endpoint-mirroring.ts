/** Endpoints that someone wrote by hand, mirrored into slices for those who read only slices. */
import type { KubeObject } from '../../../../api/object.ts';
import { equal } from '../../../../apiserver/json.ts';
import { type Controller, itself, ownerOf } from '../controller.ts';
import { controllerRef, isControlledBy } from '../world.ts';
import { SERVICES } from './endpoint.ts';
import { SLICES } from './endpoint-slices.ts';

const ENDPOINTS = '/endpoints';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const US = 'endpointslicemirroring-controller.k8s.io';
const SKIP = 'endpointslice.kubernetes.io/skip-mirror';
const LEADER = 'control-plane.alpha.kubernetes.io/leader';

export const endpointMirroring: Controller = {
  name: 'endpointslicemirroring-controller',
  on: { [ENDPOINTS]: itself, [SERVICES]: itself, [SLICES]: ownerOf('Endpoints') },
  async reconcile(world, namespace, name) {
    const source = world.cache.get(ENDPOINTS, namespace, name);
    const service = world.cache.get(SERVICES, namespace, name);
    if (!source) return;
    const own = world.cache
      .list(SLICES, namespace)
      .filter((slice) => slice.metadata.labels?.[MANAGED_BY] === US && isControlledBy(slice, source));
    const { labels = {}, annotations = {} } = source.metadata;
    const mirrored = service && !service.spec.selector && labels[SKIP] !== 'true' && !(LEADER in annotations);
    const wanted = mirrored ? slicesOf(source) : [];
    const free = [...own];
    for (const { endpoints, ports } of wanted) {
      const slice = free.shift();
      const marks = { ...labels, 'kubernetes.io/service-name': name, [MANAGED_BY]: US };
      if (!slice) {
        await world.create(SLICES, {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: { generateName: `${name}-`, namespace, labels: marks, ownerReferences: [controllerRef(source)] },
          addressType: 'IPv4',
          endpoints,
          ports,
        });
      } else if (!equal(slice.endpoints ?? [], endpoints) || !equal(slice.ports ?? [], ports)) {
        await world.update(SLICES, slice, (draft) => Object.assign(draft, { endpoints, ports }));
      }
    }
    for (const slice of free) await world.remove(SLICES, slice);
  },
};

function slicesOf({ subsets = [] }: KubeObject) {
  return (subsets as KubeObject[]).map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const entry =
      (ready: boolean) => (address: { ip: string; hostname?: string; nodeName?: string; targetRef?: unknown }) => {
        const { ip, hostname, nodeName, targetRef } = address;
        return {
          addresses: [ip],
          conditions: { ready },
          ...(hostname ? { hostname } : {}),
          ...(nodeName ? { nodeName } : {}),
          ...(targetRef ? { targetRef } : {}),
        };
      };
    return {
      endpoints: [...addresses.map(entry(true)), ...notReadyAddresses.map(entry(false))],
      ports: ports.map(({ name = '', port, protocol = 'TCP' }: { name?: string; port: number; protocol?: string }) => ({
        name,
        port,
        protocol,
      })),
    };
  });
}

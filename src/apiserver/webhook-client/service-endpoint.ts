/**
 * Where a Service can be reached from this process: the address and port of a ready endpoint, from its EndpointSlices or
 * from Endpoints somebody made by hand. There is no network of Services here that a cluster address could be dialled in.
 */
import type { KubeObject } from '../../api/object.ts';
import { items } from '../builtins/fields.ts';
import type { Store } from '../store/store.ts';
import { CallError } from './call-error.ts';

interface Endpoint {
  host: string;
  port: number;
}

export interface ServiceReference {
  namespace: string;
  name: string;
  port: number;
}

/** Throws CallError in the words of the real server's resolver. */
export function resolveService(store: Pick<Store, 'get' | 'list'>, reference: ServiceReference): Endpoint {
  const { namespace, name, port } = reference;
  const service = store.get({ resource: '/services', namespace, name })?.object();
  if (!service) throw new CallError(`service ${JSON.stringify(name)} not found`);
  const { type = 'ClusterIP', externalName = '', ports } = service.spec ?? {};
  if (type === 'ExternalName') return { host: externalName, port };
  const wanted = items(ports).find((known) => known.port === port);
  if (!wanted) throw new CallError(`no service port ${port} found for service ${JSON.stringify(name)}`);
  const found = fromSlices(store, namespace, name, wanted.name ?? '') ?? fromEndpoints(store, namespace, name, wanted);
  if (!found) throw new CallError(`no endpoints available for service ${JSON.stringify(name)}`);
  return found;
}

function fromSlices(store: Pick<Store, 'list'>, namespace: string, name: string, port: string): Endpoint | undefined {
  for (const stored of store.list({ resource: 'discovery.k8s.io/endpointslices', namespace }).items) {
    const slice = stored.object();
    if (slice.metadata.labels?.['kubernetes.io/service-name'] !== name) continue;
    const served = items(slice.ports).find((known) => (known.name ?? '') === port && known.port);
    const ready = items(slice.endpoints).find(({ conditions }) => conditions?.ready !== false);
    const host = ready?.addresses?.[0];
    if (served && host) return { host, port: served.port };
  }
  return undefined;
}

function fromEndpoints(
  store: Pick<Store, 'get'>,
  namespace: string,
  name: string,
  wanted: { name?: string },
): Endpoint | undefined {
  const endpoints: KubeObject | undefined = store.get({ resource: '/endpoints', namespace, name })?.object();
  for (const subset of items(endpoints?.subsets)) {
    const served = items(subset.ports).find((known) => (known.name ?? '') === (wanted.name ?? ''));
    const host = subset.addresses?.[0]?.ip;
    if (served && host) return { host, port: served.port };
  }
  return undefined;
}

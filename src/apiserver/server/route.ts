/** What a request path and method ask for, in the words of the Kubernetes API. */

export interface ResourceRoute {
  kind: 'resource';
  group: string;
  version: string;
  plural: string;
  /** Empty: cluster scope or all namespaces. */
  namespace: string;
  /** Empty: the collection. */
  name: string;
  subresource: string;
  /** What follows the subresource, e.g. the path of a proxy request. */
  rest: string;
  verb: string;
}

export interface PathRoute {
  kind: 'path';
  path: string;
  verb: string;
}

export type Route = ResourceRoute | PathRoute;

const CLUSTER_PREFIX = /^\/clusters\/([^/]+)(\/.*)?$/;

/** Splits `/clusters/<name>/…`; the name of the root cluster is empty. */
export function splitCluster(path: string): { cluster: string; path: string } {
  const match = CLUSTER_PREFIX.exec(path);
  return match ? { cluster: match[1] as string, path: match[2] ?? '/' } : { cluster: '', path };
}

const SERVER_NAME_SUFFIX = '.clusters.rookery.internal';
const LABEL_LENGTH = 63;

/** Any cluster, as the serving certificate has to name them. */
export const ANY_SERVER_NAME = `*${SERVER_NAME_SUFFIX}`;

/**
 * The TLS server name that means a cluster. Clients that leave the path out of a kubeconfig's address (`kubectl proxy`,
 * `kubectl get --raw`) still say it, and so reach their cluster. One label, for the wildcard of the certificate;
 * undefined for a name too long for one.
 */
export function serverNameOf(cluster: string): string | undefined {
  return cluster.length > LABEL_LENGTH ? undefined : `${cluster.replaceAll('.', '_')}${SERVER_NAME_SUFFIX}`;
}

/** The cluster that a TLS server name means; the root for any other name. */
export function clusterNamed(serverName: string | false | null | undefined): string {
  const name = serverName || '';
  if (!name.endsWith(SERVER_NAME_SUFFIX)) return '';
  return name.slice(0, -SERVER_NAME_SUFFIX.length).replaceAll('_', '.');
}

export function parseRoute(method: string, path: string, query: URLSearchParams): Route {
  // One slash at the end is forgiven; other empty or dotted segments name nothing.
  const segments = path.replace(/\/$/, '').split('/').slice(1).map(decode);
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return { kind: 'path', path, verb: method.toLowerCase() };
  }
  const isCore = segments[0] === 'api';
  const start = isCore ? 2 : 3;
  if ((!isCore && segments[0] !== 'apis') || segments.length <= start) {
    return { kind: 'path', path, verb: method.toLowerCase() };
  }
  const group = isCore ? '' : (segments[1] as string);
  const version = segments[start - 1] as string;
  let parts = segments.slice(start);
  let watch = isTrue(query.get('watch'));
  if (parts[0] === 'watch' && parts.length > 1) {
    watch = true;
    parts = parts.slice(1);
  }
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 2 && parts[2] !== 'status' && parts[2] !== 'finalize') {
    namespace = parts[1] as string;
    parts = parts.slice(2);
  }
  const [plural = '', name = '', subresource = '', ...rest] = parts;
  return {
    kind: 'resource',
    group,
    version,
    plural,
    namespace,
    name,
    subresource,
    rest: rest.join('/'),
    verb: verbOf(method, name, watch),
  };
}

function verbOf(method: string, name: string, watch: boolean): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (watch) return 'watch';
      return name ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name ? 'delete' : 'deletecollection';
    default:
      return method.toLowerCase();
  }
}

export function isTrue(value: string | null): boolean {
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The object store over HTTPS: any Kubernetes API server, ours or a real one. Knows paths and verbs, nothing else. */
import type { KubeList, KubeObject } from '../api/object.ts';
import { HttpClient, type HttpClientOptions } from './http-client.ts';
import { ignoreNotFound, KubeError, type KubeStatus, WatchStreamError } from './kube-error.ts';
import {
  type ApplyOptions,
  apiVersionOf,
  type DeleteOptions,
  type GetOptions,
  keyOf,
  type ListOptions,
  type ObjectKey,
  type ObjectStore,
  type Patch,
  type ResourceRef,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './store.ts';

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const satisfies Record<Patch['type'], string>;

interface ApiResourceList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

export class RemoteStore implements ObjectStore {
  readonly #http: HttpClient;

  constructor(options: HttpClientOptions) {
    this.#http = new HttpClient(options);
  }

  /** The kinds that a group and version serves; none when there is no such version. */
  async discover(apiVersion: string, signal?: AbortSignal): Promise<ResourceRef[]> {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const list = await this.#http.json<ApiResourceList>({ method: 'GET', path, signal }).catch(ignoreNotFound);
    return (list?.resources ?? [])
      .filter(({ name }) => !name.includes('/'))
      .map(({ name: plural, kind, namespaced }) => ({
        group: group as string,
        version: version as string,
        plural,
        kind,
        namespaced,
      }));
  }

  async get<T extends KubeObject>(resource: ResourceRef, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const path =
      pathOf(resource, key.namespace, required(key.name)) + query({ resourceVersion: options.resourceVersion });
    return this.#http.json<T>({ method: 'GET', path, signal: options.signal });
  }

  async list<T extends KubeObject>(resource: ResourceRef, options: ListOptions = {}): Promise<KubeList<T>> {
    const { namespace, signal, ...parameters } = options;
    const path = pathOf(resource, namespace) + query(parameters);
    const list = await this.#http.json<KubeList<T>>({ method: 'GET', path, signal });
    const apiVersion = apiVersionOf(resource);
    const { kind } = resource;
    // The items of typed lists come without them.
    list.items = (list.items ?? []).map((item) => (item.kind ? item : { ...item, apiVersion, kind }));
    return list;
  }

  async *watch<T extends KubeObject>(resource: ResourceRef, options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>> {
    const { namespace, signal, bookmarks = true, ...parameters } = options;
    const path =
      pathOf(resource, namespace) + query({ ...parameters, watch: true, allowWatchBookmarks: bookmarks || undefined });
    for await (const line of this.#http.lines(path, signal)) {
      const event = line as { type?: string; object?: KubeObject } | null;
      if (event?.type === 'ERROR') throw new KubeError((event.object ?? {}) as KubeStatus);
      if (!event?.type || !event.object?.metadata) throw new WatchStreamError(`A watch of ${path} sent no event`);
      yield event as WatchEvent<T>;
    }
  }

  async create<T extends KubeObject>(resource: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata;
    const { subresource } = options;
    const path = subresource ? pathOf(resource, namespace, name, subresource) : pathOf(resource, namespace);
    return this.#write('POST', path, typed(resource, object, subresource), options);
  }

  async update<T extends KubeObject>(resource: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = keyOf(object);
    const path = pathOf(resource, namespace, required(name), options.subresource);
    return this.#write('PUT', path, typed(resource, object, options.subresource), options);
  }

  async updateStatus<T extends KubeObject>(resource: ResourceRef, object: T, options: WriteOptions = {}): Promise<T> {
    return this.update(resource, object, { ...options, subresource: 'status' });
  }

  async patch<T extends KubeObject>(
    resource: ResourceRef,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = pathOf(resource, key.namespace, required(key.name), options.subresource);
    return this.#write('PATCH', path, patch.body, options, PATCH_TYPES[patch.type]);
  }

  async apply<T extends KubeObject>(resource: ResourceRef, object: KubeObject, options: ApplyOptions): Promise<T> {
    const { namespace, name } = keyOf(object);
    const path = pathOf(resource, namespace, required(name), options.subresource);
    // JSON is YAML.
    return this.#write('PATCH', path, typed(resource, object), options, 'application/apply-patch+yaml');
  }

  async delete<T extends KubeObject>(
    resource: ResourceRef,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | undefined> {
    const { signal, dryRun, ...rest } = options;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...rest, ...(dryRun ? { dryRun: ['All'] } : {}) };
    const path = pathOf(resource, key.namespace, required(key.name));
    const answer = await this.#http.json<KubeObject>({ method: 'DELETE', path, body, signal });
    return isStaying(answer) ? (answer as T) : undefined;
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  #write<T>(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    body: unknown,
    options: WriteOptions & { force?: boolean },
    contentType?: string,
  ): Promise<T> {
    const { dryRun, fieldManager, fieldValidation, force, signal } = options;
    const parameters = query({ dryRun: dryRun ? 'All' : undefined, fieldManager, fieldValidation, force });
    return this.#http.json<T>({ method, path: path + parameters, body, contentType, signal });
  }
}

function pathOf(resource: ResourceRef, namespace?: string, name?: string, subresource?: string): string {
  const root = resource.group ? `/apis/${resource.group}/${resource.version}` : `/api/${resource.version}`;
  const parts = [root];
  if (resource.namespaced && namespace) parts.push('namespaces', encodeURIComponent(namespace));
  parts.push(resource.plural);
  if (name) parts.push(encodeURIComponent(name));
  if (subresource) parts.push(subresource);
  return parts.join('/');
}

function query(parameters: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size > 0 ? `?${search}` : '';
}

function typed<T extends KubeObject>(resource: ResourceRef, object: T, subresource?: string): T {
  if (object.apiVersion && object.kind) return object;
  if (subresource && subresource !== 'status') return object;
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

/** An empty name would turn a request about one object into one about all. */
function required(name: string): string {
  if (name) return name;
  throw new KubeError({ code: 400, reason: 'BadRequest', message: 'resource name may not be empty' });
}

/** Some kinds answer a delete with the object though it is gone. */
function isStaying(answer: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = answer.metadata ?? {};
  if (answer.kind === 'Status' || !deletionTimestamp) return false;
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || (answer.spec?.finalizers ?? []).length > 0;
}

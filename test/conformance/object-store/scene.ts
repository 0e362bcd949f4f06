/** What every test of the suite starts from: a store, a namespace of its own, a custom kind with a status. */
import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../../../src/api/object.ts';
import type { ObjectStore, ResourceRef, WatchEvent } from '../../../src/kube/index.ts';

export interface StoreUnderTest {
  store: ObjectStore;
  close?(): Promise<void>;
  /** Makes a resource version of `resource` too old to watch from, and returns it. Without it 410 is not tested. */
  expire?(resource: ResourceRef): Promise<string>;
}

export interface Scene extends StoreUnderTest {
  namespace: string;
  widgets: ResourceRef;
  /** A fresh name. */
  name(prefix?: string): string;
}

const core = { group: '', version: 'v1' };
export const configMaps: ResourceRef = { ...core, plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
export const namespaces: ResourceRef = { ...core, plural: 'namespaces', kind: 'Namespace', namespaced: false };
export const deployments: ResourceRef = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
const definitions: ResourceRef = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

export async function setScene(scene: Scene, underTest: StoreUnderTest): Promise<void> {
  const id = randomBytes(4).toString('hex');
  let counter = 0;
  const group = `s${id}.conformance.rookery.dev`;
  Object.assign(scene, {
    ...underTest,
    close: () => underTest.close?.(),
    expire: underTest.expire && ((resource: ResourceRef) => underTest.expire?.(resource)),
    namespace: `store-${id}`,
    widgets: { group, version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true },
    name: (prefix = 'x') => `${prefix}-${counter++}`,
  });
  const { store, namespace, widgets } = scene;
  await store.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await store.create(definitions, widgetDefinition(group));
  await eventually(() => store.list(widgets, { namespace }));
}

export function configMap(
  scene: Scene,
  name: string,
  data: Record<string, string> = {},
  labels?: Record<string, string>,
) {
  const metadata = { name, namespace: scene.namespace, ...(labels ? { labels } : {}) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as KubeObject;
}

export function widget(scene: Scene, name: string, spec: Record<string, unknown> = { size: 1 }): KubeObject {
  const apiVersion = `${scene.widgets.group}/v1`;
  return { apiVersion, kind: 'Widget', metadata: { name, namespace: scene.namespace }, spec };
}

export function deployment(scene: Scene, name: string): KubeObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: scene.namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main:1' }] } },
    },
  };
}

/** The error a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure');
}

/** The first `count` events that are no bookmarks; fails after `ms`. */
export async function takeEvents(
  watch: (signal: AbortSignal) => AsyncIterable<WatchEvent>,
  count: number,
  ms = 10_000,
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error(`only ${events.length} of ${count} events in ${ms} ms`)), ms);
  try {
    for await (const event of watch(stop.signal)) {
      if (event.type !== 'BOOKMARK') events.push(event);
      if (events.length >= count) break;
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
  return events;
}

async function eventually<T>(attempt: () => Promise<T>, ms = 20_000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function widgetDefinition(group: string): KubeObject {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const spec = {
    type: 'object',
    properties: { size: { type: 'integer', minimum: 0 }, color: { type: 'string' }, more: anything },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: anything } } },
        },
      ],
    },
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { Registry } from '../kinds/registry.ts';
import { openStore } from '../store/sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { CrdController } from './controller.ts';
import { CRD_STORAGE, type Crd, isTrue } from './crd.ts';
import { crdStrategy } from './strategy.ts';

const keyOf = (name: string) => ({ resource: CRD_STORAGE, namespace: '', name });

function crdOf(plural: string, kind: string, extra: object = {}): Crd {
  const crd: Crd = {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.example.com`, uid: plural },
    spec: {
      group: 'example.com',
      names: { plural, kind },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...extra } } } },
        },
      ],
    },
  };
  crdStrategy.prepareCreate?.(crd, { now: 0, user: '', groups: [], dryRun: false });
  crdStrategy.defaults?.(crd);
  return crd;
}

const ticks = async (until: () => boolean) => {
  for (let i = 0; i < 200 && !until(); i++) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(until()).toBe(true);
};

describe('CrdController', () => {
  let folder: string;
  let store: Store;
  let registry: Registry;
  let controller: CrdController;
  let removed: string[];
  const stored = (name: string) => store.get(keyOf(name))?.object() as Crd | undefined;
  const start = () => {
    store = openStore(join(folder, 'db'), { clock: systemClock });
    registry = new Registry();
    removed = [];
    controller = new CrdController({
      store,
      registry,
      clock: systemClock,
      removeObjects: async (crd) => {
        removed.push(crd.metadata.name as string);
      },
    });
    controller.start();
  };
  const put = (crd: Crd) => store.write((tx) => tx.put(keyOf(crd.metadata.name as string), crd));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'crd-'));
    start();
  });
  afterEach(async () => {
    controller.stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('serves a CRD with its create and says so in its status', async () => {
    await put(crdOf('widgets', 'Widget'));
    expect(registry.find('example.com', 'v1', 'widgets')?.kind).toBe('Widget');
    await ticks(() => isTrue(stored('widgets.example.com') as Crd, 'Established'));
    expect(stored('widgets.example.com')?.status?.acceptedNames).toEqual({
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
    });
  });

  it('gives names to the first and hands them on when it goes', async () => {
    await Promise.all([put(crdOf('widgets', 'Widget')), put(crdOf('gadgets', 'Widget'))]);
    await ticks(() => (stored('gadgets.example.com')?.status?.conditions?.length ?? 0) > 0);
    expect(registry.find('example.com', 'v1', 'widgets')).toBeDefined();
    expect(registry.find('example.com', 'v1', 'gadgets')).toBeUndefined();
    await store.write((tx) => tx.delete(keyOf('widgets.example.com')));
    expect(registry.find('example.com', 'v1', 'widgets')).toBeUndefined();
    await ticks(() => registry.find('example.com', 'v1', 'gadgets') !== undefined);
  });

  it('follows changes of the schema', async () => {
    await put(crdOf('widgets', 'Widget'));
    const object = () => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: {}, spec: { a: 'x' } });
    expect(registry.find('example.com', 'v1', 'widgets')?.custom?.prune(object())).toEqual(['spec.a']);
    await ticks(() => isTrue(stored('widgets.example.com') as Crd, 'Established'));
    const next = structuredClone(stored('widgets.example.com') as Crd);
    next.spec.versions = crdOf('widgets', 'Widget', { properties: { a: { type: 'string' } } }).spec.versions;
    await put(next);
    expect(registry.find('example.com', 'v1', 'widgets')?.custom?.prune(object())).toEqual([]);
  });

  it('loads what is stored, also without having seen it', async () => {
    for (let i = 0; i < 20; i++) await put(crdOf(`kind${i}s`, `Kind${i}`));
    await ticks(() => isTrue(stored('kind19s.example.com') as Crd, 'Established'));
    controller.stop();
    await store.close();
    start();
    expect(registry.custom()).toHaveLength(20);
    expect(registry.find('example.com', 'v1', 'kind3s')?.schema().properties?.spec).toBeDefined();
  });

  it('deletes a CRD when its objects are gone', async () => {
    await put(crdOf('widgets', 'Widget'));
    const object = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'a', namespace: 'x' } };
    const key = { resource: 'example.com/widgets', namespace: 'x', name: 'a' };
    await store.write((tx) => tx.put(key, object));
    const dying = structuredClone(stored('widgets.example.com') as Crd);
    dying.metadata.deletionTimestamp = '2020-01-01T00:00:00Z';
    await put(dying);
    await ticks(() => removed.length === 1);
    expect(registry.find('example.com', 'v1', 'widgets')?.verbs).not.toContain('create');
    expect(stored('widgets.example.com')).toBeDefined();
    await store.write((tx) => tx.delete(key));
    await ticks(() => stored('widgets.example.com') === undefined);
    expect(registry.find('example.com', 'v1', 'widgets')).toBeUndefined();
  });
});

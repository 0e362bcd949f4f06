import { beforeAll, expect, it } from 'vitest';
import { isNotFound, type ListOptions, listAll } from '../../../src/kube/index.ts';
import { configMap, configMaps, failureOf, type Scene } from './scene.ts';

export function reads(scene: Scene): void {
  const names = ['list-a', 'list-b', 'list-c', 'list-d', 'list-e', 'list-f', 'list-g'];
  const only = (options: ListOptions = {}): ListOptions => ({
    namespace: scene.namespace,
    labelSelector: 'set=list',
    ...options,
  });
  const namesOf = (list: { items: { metadata: { name?: string } }[] }) => list.items.map((item) => item.metadata.name);

  beforeAll(async () => {
    for (const [i, name] of names.entries()) {
      const labels = { set: 'list', parity: i % 2 ? 'odd' : 'even', ...(i === 6 ? { last: '' } : {}) };
      await scene.store.create(configMaps, configMap(scene, name, { i: `${i}` }, labels));
    }
  });

  it('says what it did not find', async () => {
    const error = await failureOf(scene.store.get(configMaps, { namespace: scene.namespace, name: 'not-here' }));
    expect(isNotFound(error)).toBe(true);
    expect(error).toMatchObject({ code: 404, reason: 'NotFound', details: { name: 'not-here', kind: 'configmaps' } });
    expect(String(error)).toContain('configmaps "not-here" not found');
  });

  it('lists in the order of names, with kind and resource version', async () => {
    const list = await scene.store.list(configMaps, only());
    expect(list.kind).toBe('ConfigMapList');
    expect(list.metadata.resourceVersion).toMatch(/^\d+$/);
    expect(namesOf(list)).toEqual(names);
    for (const item of list.items) expect(item).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  it('lists nothing as an empty list', async () => {
    const list = await scene.store.list(configMaps, only({ labelSelector: 'set=none' }));
    expect(list.items).toEqual([]);
    expect(list.metadata.resourceVersion).toMatch(/^\d+$/);
  });

  it.each([
    ['set=list,parity=odd', ['list-b', 'list-d', 'list-f']],
    ['set=list,parity!=odd', ['list-a', 'list-c', 'list-e', 'list-g']],
    ['set=list,parity in (odd,strange)', ['list-b', 'list-d', 'list-f']],
    ['set=list,parity notin (odd)', ['list-a', 'list-c', 'list-e', 'list-g']],
    ['set=list,last', ['list-g']],
    ['set=list,!last,parity==even', ['list-a', 'list-c', 'list-e']],
  ])('selects by label: %s', async (labelSelector, expected) => {
    expect(namesOf(await scene.store.list(configMaps, only({ labelSelector })))).toEqual(expected);
  });

  it('selects by field', async () => {
    const equal = only({ fieldSelector: 'metadata.name=list-c' });
    expect(namesOf(await scene.store.list(configMaps, equal))).toEqual(['list-c']);
    const unequal = only({ fieldSelector: 'metadata.name!=list-c' });
    expect(namesOf(await scene.store.list(configMaps, unequal))).toEqual(names.filter((name) => name !== 'list-c'));
    const both = only({
      namespace: undefined,
      fieldSelector: `metadata.namespace=${scene.namespace},metadata.name=list-c`,
    });
    expect(namesOf(await scene.store.list(configMaps, both))).toEqual(['list-c']);
  });

  it('refuses selectors it does not understand', async () => {
    expect(await failureOf(scene.store.list(configMaps, only({ labelSelector: 'a in' })))).toMatchObject({ code: 400 });
    expect(await failureOf(scene.store.list(configMaps, only({ fieldSelector: 'data.i=1' })))).toMatchObject({
      code: 400,
    });
  });

  it('pages, all pages as of the first one', async () => {
    const first = await scene.store.list(configMaps, only({ limit: 3 }));
    expect(namesOf(first)).toEqual(names.slice(0, 3));
    const late = await scene.store.create(configMaps, configMap(scene, 'list-e1', {}, { set: 'list' }));
    const second = await scene.store.list(configMaps, only({ limit: 3, continue: first.metadata.continue }));
    expect(namesOf(second)).toEqual(names.slice(3, 6));
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const third = await scene.store.list(configMaps, only({ limit: 3, continue: second.metadata.continue }));
    expect(namesOf(third)).toEqual(names.slice(6));
    expect(third.metadata.continue ?? '').toBe('');
    await scene.store.delete(configMaps, { namespace: scene.namespace, name: late.metadata.name ?? '' });
  });

  it('counts what remains where no selector is given', async () => {
    const page = await scene.store.list(configMaps, { namespace: scene.namespace, limit: 2 });
    const all = await scene.store.list(configMaps, { namespace: scene.namespace });
    expect(page.metadata.remainingItemCount).toBe(all.items.length - 2);
  });

  it('reads a whole list page by page', async () => {
    const list = await listAll(scene.store, configMaps, only({ limit: 2 }));
    expect(namesOf(list)).toEqual(names);
    expect(list.metadata.continue).toBeUndefined();
  });

  it('lists as of an exact resource version', async () => {
    const before = await scene.store.list(configMaps, only());
    const { resourceVersion } = before.metadata;
    await scene.store.create(configMaps, configMap(scene, 'list-z', {}, { set: 'list' }));
    const exact = await scene.store.list(configMaps, only({ resourceVersion, resourceVersionMatch: 'Exact' }));
    expect(namesOf(exact)).toEqual(names);
    const newer = await scene.store.list(configMaps, only({ resourceVersion, resourceVersionMatch: 'NotOlderThan' }));
    expect(Number(newer.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(resourceVersion));
    await scene.store.delete(configMaps, { namespace: scene.namespace, name: 'list-z' });
  });

  it('says so when asked for a resource version of the future', async () => {
    const key = { namespace: scene.namespace, name: 'list-a' };
    const future = { resourceVersion: '9007199254740000' };
    expect(await failureOf(scene.store.get(configMaps, key, future))).toMatchObject({ code: 504 });
  });
}

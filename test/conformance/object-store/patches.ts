import { expect, it } from 'vitest';
import { isConflict, isInvalid, isNotFound, type KubeError, keyOf } from '../../../src/kube/index.ts';
import { configMap, configMaps, deployment, deployments, failureOf, type Scene, widget } from './scene.ts';

export function patches(scene: Scene): void {
  it('applies a JSON patch, all of it or nothing', async () => {
    const { store } = scene;
    const key = keyOf(await store.create(configMaps, configMap(scene, scene.name(), { a: '1', b: '2' }, { x: 'y' })));
    const patched = await store.patch(configMaps, key, {
      type: 'json',
      body: [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'replace', path: '/data/a', value: '3' },
        { op: 'remove', path: '/data/b' },
        { op: 'add', path: '/metadata/labels/rookery.dev~1c', value: '4' },
      ],
    });
    expect(patched.data).toEqual({ a: '3' });
    expect(patched.metadata.labels).toEqual({ x: 'y', 'rookery.dev/c': '4' });

    const body = [
      { op: 'replace' as const, path: '/data/a', value: '9' },
      { op: 'test' as const, path: '/data/a', value: 'never' },
    ];
    expect(await failureOf(store.patch(configMaps, key, { type: 'json', body }))).toMatchObject({ code: 422 });
    expect(await store.get(configMaps, key)).toEqual(patched);
  });

  it('applies a merge patch; null removes', async () => {
    const { store } = scene;
    const key = keyOf(await store.create(configMaps, configMap(scene, scene.name(), { a: '1', b: '2' })));
    const body = { data: { a: null, c: '3' }, metadata: { labels: { x: 'y' } } };
    const patched = await store.patch(configMaps, key, { type: 'merge', body });
    expect(patched).toMatchObject({ data: { b: '2', c: '3' }, metadata: { labels: { x: 'y' } } });
    expect(patched.data).not.toHaveProperty('a');
  });

  it('writes nothing for a patch that changes nothing', async () => {
    const created = await scene.store.create(configMaps, configMap(scene, scene.name(), { a: '1' }));
    const patched = await scene.store.patch(configMaps, keyOf(created), { type: 'merge', body: { data: { a: '1' } } });
    expect(patched.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  });

  it('takes a resource version in a patch for a condition', async () => {
    const { store } = scene;
    const created = await store.create(configMaps, configMap(scene, scene.name(), { a: '1' }));
    const { resourceVersion } = created.metadata;
    const body = (a: string) => ({ metadata: { resourceVersion }, data: { a } });
    await store.patch(configMaps, keyOf(created), { type: 'merge', body: body('2') });
    const error = await failureOf(store.patch(configMaps, keyOf(created), { type: 'merge', body: body('3') }));
    expect(isConflict(error)).toBe(true);
  });

  it('refuses a patch meant for an object that had the name before', async () => {
    const { store, widgets } = scene;
    const created = await store.create(widgets, widget(scene, scene.name()));
    const body = { metadata: { uid: '00000000-0000-4000-8000-000000000000' }, spec: { size: 2 } };
    const error = await failureOf(store.patch(widgets, keyOf(created), { type: 'merge', body }));
    // kube-apiserver says 422 for metadata.uid; a conflict is as good.
    expect(isInvalid(error) || isConflict(error)).toBe(true);
    expect((await store.get(widgets, keyOf(created))).spec).toEqual({ size: 1 });
  });

  it('loses none of many concurrent patches', async () => {
    const { store } = scene;
    const key = keyOf(await store.create(configMaps, configMap(scene, scene.name(), {})));
    const names = Array.from({ length: 8 }, (_, i) => `k${i}`);
    await Promise.all(
      names.map((name) => store.patch(configMaps, key, { type: 'merge', body: { data: { [name]: '1' } } })),
    );
    expect(Object.keys((await store.get(configMaps, key)).data).sort()).toEqual(names);
  });

  it('merges lists by key with a strategic merge patch', async () => {
    const { store } = scene;
    const key = keyOf(await store.create(deployments, deployment(scene, scene.name())));
    const containers = [{ name: 'side', image: 'side:1' }];
    const patched = await store.patch(deployments, key, {
      type: 'strategic',
      body: { spec: { template: { spec: { containers } } } },
    });
    const images = patched.spec.template.spec.containers.map((container: { image: string }) => container.image);
    expect(images.sort()).toEqual(['main:1', 'side:1']);
    expect(patched.metadata.generation).toBe(2);
  });

  it('refuses a strategic merge patch of a custom object', async () => {
    const created = await scene.store.create(scene.widgets, widget(scene, scene.name()));
    const patch = { type: 'strategic', body: { spec: { size: 2 } } } as const;
    const error = await failureOf(scene.store.patch(scene.widgets, keyOf(created), patch));
    expect(error).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });

  it('patches the status alone', async () => {
    const { store, widgets } = scene;
    const key = keyOf(await store.create(widgets, widget(scene, scene.name())));
    const patch = { type: 'merge', body: { spec: { size: 7 }, status: { phase: 'Ready' } } } as const;
    const patched = await store.patch(widgets, key, patch, { subresource: 'status' });
    expect(patched).toMatchObject({ spec: { size: 1 }, status: { phase: 'Ready' }, metadata: { generation: 1 } });
  });

  it('stores nothing on a dry run', async () => {
    const created = await scene.store.create(configMaps, configMap(scene, scene.name(), { a: '1' }));
    const patch = { type: 'merge', body: { data: { a: '2' } } } as const;
    const tried = await scene.store.patch(configMaps, keyOf(created), patch, { dryRun: true });
    expect(tried.data).toEqual({ a: '2' });
    expect(await scene.store.get(configMaps, keyOf(created))).toEqual(created);
  });

  it('does not make what it is asked to patch', async () => {
    const key = { namespace: scene.namespace, name: scene.name() };
    const error = await failureOf(scene.store.patch(configMaps, key, { type: 'merge', body: {} }));
    expect(isNotFound(error)).toBe(true);
  });

  it('applies: makes, changes and removes what the manager stops asking for', async () => {
    const { store } = scene;
    const name = scene.name();
    const made = await store.apply(configMaps, configMap(scene, name, { a: '1', b: '2' }), { fieldManager: 'one' });
    expect(made.data).toEqual({ a: '1', b: '2' });
    expect(made.metadata.managedFields?.[0]).toMatchObject({ manager: 'one', operation: 'Apply' });

    const changed = await store.apply(configMaps, configMap(scene, name, { a: '3' }), { fieldManager: 'one' });
    expect(changed.data).toEqual({ a: '3' });
    const same = await store.apply(configMaps, configMap(scene, name, { a: '3' }), { fieldManager: 'one' });
    expect(same.metadata.resourceVersion).toBe(changed.metadata.resourceVersion);
  });

  it('applies beside other managers; conflicts name the field, force takes it', async () => {
    const { store } = scene;
    const name = scene.name();
    await store.apply(configMaps, configMap(scene, name, { a: '1' }), { fieldManager: 'one' });
    const both = await store.apply(configMaps, configMap(scene, name, { b: '2' }), { fieldManager: 'two' });
    expect(both.data).toEqual({ a: '1', b: '2' });

    const rival = configMap(scene, name, { a: '9', b: '2' });
    const error = await failureOf(store.apply(configMaps, rival, { fieldManager: 'two' }));
    expect(isConflict(error)).toBe(true);
    const causes = (error as KubeError).details.causes;
    expect(causes).toEqual([expect.objectContaining({ reason: 'FieldManagerConflict', field: '.data.a' })]);

    const forced = await store.apply(configMaps, rival, { fieldManager: 'two', force: true });
    expect(forced.data).toEqual({ a: '9', b: '2' });
    const left = await store.apply(configMaps, configMap(scene, name), { fieldManager: 'one' });
    expect(left.data).toEqual({ a: '9', b: '2' });
  });

  it('applies the status alone', async () => {
    const { store, widgets } = scene;
    const made = await store.create(widgets, widget(scene, scene.name()));
    const { apiVersion, kind, metadata } = made;
    const object = {
      apiVersion,
      kind,
      metadata: { name: metadata.name, namespace: metadata.namespace },
      status: { n: 1 },
    };
    const applied = await store.apply(widgets, object, { fieldManager: 'one', subresource: 'status' });
    expect(applied).toMatchObject({ spec: { size: 1 }, status: { n: 1 } });
  });
}

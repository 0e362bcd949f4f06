import { expect, it } from 'vitest';
import { isExpired, keyOf, type WatchEvent, type WatchOptions } from '../../../src/kube/index.ts';
import { configMap, configMaps, failureOf, type Scene, takeEvents, widget } from './scene.ts';

export function watches(scene: Scene): void {
  const short = (event: WatchEvent) =>
    `${event.type} ${event.object.metadata.name} ${event.object.data?.a ?? ''}`.trim();
  const start = async () =>
    (await scene.store.list(configMaps, { namespace: scene.namespace })).metadata.resourceVersion;
  const watch = (options: WatchOptions) => (signal: AbortSignal) =>
    scene.store.watch(configMaps, { namespace: scene.namespace, ...options, signal });

  /** Makes, changes twice and deletes one object. */
  async function life(name: string): Promise<void> {
    const made = await scene.store.create(configMaps, configMap(scene, name, { a: '1' }));
    const changed = await scene.store.update(configMaps, { ...made, data: { a: '2' } });
    await scene.store.patch(configMaps, keyOf(changed), { type: 'merge', body: { data: { a: '3' } } });
    await scene.store.delete(configMaps, keyOf(made));
  }

  it('tells what happens after a resource version, in order', async () => {
    const resourceVersion = await start();
    const name = scene.name();
    const events = takeEvents(watch({ resourceVersion }), 4);
    await life(name);
    const seen = await events;
    expect(seen.map(short)).toEqual([
      `ADDED ${name} 1`,
      `MODIFIED ${name} 2`,
      `MODIFIED ${name} 3`,
      `DELETED ${name} 3`,
    ]);
    const versions = seen.map((event) => Number(event.object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(4);
    for (const event of seen) expect(event.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  it('resumes after any event without loss or repetition', async () => {
    const resourceVersion = await start();
    const name = scene.name();
    await life(name);
    const all = await takeEvents(watch({ resourceVersion }), 4);
    for (const [i, event] of all.slice(0, -1).entries()) {
      const rest = await takeEvents(watch({ resourceVersion: event.object.metadata.resourceVersion }), 3 - i);
      expect(rest).toEqual(all.slice(i + 1));
    }
  });

  it('tells every watcher the same', async () => {
    const resourceVersion = await start();
    const watchers = Array.from({ length: 5 }, () => takeEvents(watch({ resourceVersion }), 12));
    await Promise.all([life(scene.name()), life(scene.name()), life(scene.name())]);
    const [first, ...others] = await Promise.all(watchers);
    for (const other of others) expect(other).toEqual(first);
  });

  it('starts with what is there when no resource version is given', async () => {
    const made = await scene.store.create(configMaps, configMap(scene, scene.name(), { a: '1' }));
    const fieldSelector = `metadata.name=${made.metadata.name}`;
    const events = takeEvents(watch({ fieldSelector }), 2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await scene.store.delete(configMaps, keyOf(made));
    expect((await events).map((event) => event.type)).toEqual(['ADDED', 'DELETED']);
  });

  it('turns entering and leaving a selection into ADDED and DELETED', async () => {
    const resourceVersion = await start();
    const name = scene.name();
    const key = { namespace: scene.namespace, name };
    const events = takeEvents(watch({ resourceVersion, labelSelector: 'room=blue' }), 4);
    const label = (room: string | null, a: string) =>
      scene.store.patch(configMaps, key, { type: 'merge', body: { metadata: { labels: { room } }, data: { a } } });
    await scene.store.create(configMaps, configMap(scene, name, { a: '1' }));
    await label('blue', '2');
    await label('blue', '3');
    const left = await label('red', '4');
    await label('blue', '5');
    const seen = await events;
    expect(seen.map(short)).toEqual([
      `ADDED ${name} 2`,
      `MODIFIED ${name} 3`,
      `DELETED ${name} 3`, // the last state that was selected …
      `ADDED ${name} 5`,
    ]);
    // … at the version at which it left.
    expect(seen[2]?.object.metadata.resourceVersion).toBe(left.metadata.resourceVersion);
  });

  it('watches all namespaces or one', async () => {
    const resourceVersion = await start();
    const name = scene.name('everywhere');
    const everywhere = takeEvents(
      (signal) => scene.store.watch(configMaps, { resourceVersion, fieldSelector: `metadata.name=${name}`, signal }),
      1,
    );
    const elsewhere = takeEvents(
      (signal) =>
        scene.store.watch(configMaps, {
          namespace: 'default',
          resourceVersion,
          fieldSelector: `metadata.name=${name}`,
          signal,
        }),
      1,
      1_000,
    );
    await scene.store.create(configMaps, configMap(scene, name));
    expect(await everywhere).toHaveLength(1);
    await expect(elsewhere).rejects.toThrow(/only 0 of 1/);
  });

  it('tells of status changes of custom objects', async () => {
    const { store, widgets, namespace } = scene;
    const made = await store.create(widgets, widget(scene, scene.name()));
    const { resourceVersion } = made.metadata;
    const events = takeEvents((signal) => store.watch(widgets, { namespace, resourceVersion, signal }), 1);
    await store.updateStatus(widgets, { ...made, status: { phase: 'Ready' } });
    expect((await events)[0]).toMatchObject({ type: 'MODIFIED', object: { status: { phase: 'Ready' } } });
  });

  it('ends by itself after the time asked for, with a bookmark past what was not selected', async () => {
    const resourceVersion = await start();
    const seen: WatchEvent[] = [];
    const startedAt = Date.now();
    // After the watch has begun: kube-apiserver tells by bookmark only what came since.
    const unselected = new Promise((resolve) => setTimeout(resolve, 500)).then(() =>
      scene.store.create(configMaps, configMap(scene, scene.name())),
    );
    for await (const event of watch({ resourceVersion, timeoutSeconds: 5, fieldSelector: 'metadata.name=quiet' })(
      AbortSignal.timeout(20_000),
    )) {
      seen.push(event);
    }
    expect(Date.now() - startedAt).toBeGreaterThan(3_500);
    const bookmarks = seen.filter((event) => event.type === 'BOOKMARK');
    expect(bookmarks.length).toBeGreaterThan(0);
    expect(bookmarks[0]?.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const reached = Number(bookmarks.at(-1)?.object.metadata.resourceVersion);
    expect(reached).toBeGreaterThanOrEqual(Number((await unselected).metadata.resourceVersion));
  }, 30_000);

  it('sends no bookmarks when not asked to', async () => {
    const resourceVersion = await start();
    for await (const event of watch({ resourceVersion, timeoutSeconds: 3, bookmarks: false })(
      AbortSignal.timeout(20_000),
    )) {
      expect(event.type).not.toBe('BOOKMARK');
    }
  }, 30_000);

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => stop.abort(reason), 200);
    const resourceVersion = await start();
    const endless = async () => {
      for await (const _ of watch({ resourceVersion })(stop.signal)) void _;
    };
    expect(await failureOf(endless())).toBe(reason);
  });

  it('says Expired for a resource version that is too old', async (context) => {
    if (!scene.expire) return context.skip();
    const resourceVersion = await scene.expire(scene.widgets);
    const { store, widgets, namespace } = scene;
    const read = async () => {
      for await (const _ of store.watch(widgets, { namespace, resourceVersion, signal: AbortSignal.timeout(10_000) }))
        void _;
    };
    const error = await failureOf(read());
    expect(isExpired(error)).toBe(true);
    expect(error).toMatchObject({ code: 410 });
  });
}

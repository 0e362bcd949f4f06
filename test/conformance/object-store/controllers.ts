/** What reconcilers write with, on any object store: patches, finalizers, events, leases, and a manager with all of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { rfc3339, systemClock } from '../../../src/clock.ts';
import {
  EventRecorder,
  ensureFinalizer,
  events,
  getCondition,
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyOf,
  LeaderElector,
  leases,
  Manager,
  PatchHelper,
  removeFinalizer,
  setCondition,
  waitFor,
  waitForCondition,
  waitForGone,
  withController,
} from '../../../src/kube/index.ts';
import {
  configMap,
  configMaps,
  failureOf,
  namespaces,
  type Scene,
  type StoreUnderTest,
  setScene,
  widget,
} from './scene.ts';

const FINALIZER = 'conformance.rookery.dev/controller';

export function controllerConformance(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`controllers: ${name}`, () => {
    const scene = {} as Scene;
    const condition = (object: KubeObject, type: string, status: 'True' | 'False' = 'True') =>
      setCondition(object, { type, status, reason: 'Because', message: 'so' }, systemClock);
    beforeAll(async () => setScene(scene, await makeStore()), 60_000);
    afterAll(() => scene.close?.(), 60_000);

    it('patch spec and status, and keep the conditions of others', async () => {
      const { store, widgets } = scene;
      const made = await store.create<KubeObject>(widgets, widget(scene, scene.name()));
      const helper = new PatchHelper<KubeObject>(store, widgets, made);
      const draft = helper.draft();
      draft.spec.size = 2;
      condition(draft, 'Ready');
      const other = structuredClone(made);
      condition(other, 'Theirs');
      await store.updateStatus(widgets, other);
      const stored = (await helper.patch(draft)) as KubeObject;
      expect(stored.spec).toEqual({ size: 2 });
      expect(getCondition(stored, 'Ready')?.status).toBe('True');
      expect(getCondition(stored, 'Theirs')?.status).toBe('True');
      const again = new PatchHelper<KubeObject>(store, widgets, stored);
      expect(await again.patch(again.draft())).toEqual(stored);
    });

    it('overwrite no list and no namesake', async () => {
      const { store, widgets } = scene;
      const made = await store.create<KubeObject>(widgets, widget(scene, scene.name(), { more: { list: [1] } }));
      const helper = new PatchHelper<KubeObject>(store, widgets, made);
      const draft = helper.draft();
      draft.spec.more.list = [1, 2];
      condition(draft, 'Ready');
      const stored = (await helper.patch(draft)) as KubeObject;
      expect(stored.spec.more.list).toEqual([1, 2]);
      expect(isConflict(await failureOf(helper.patch(draft)))).toBe(true);

      const late = new PatchHelper<KubeObject>(store, widgets, stored);
      await store.delete(widgets, keyOf(made));
      await store.create(widgets, widget(scene, made.metadata.name ?? ''));
      const stale = late.draft();
      stale.spec.size = 3;
      expect(isConflict(await failureOf(late.patch(stale)))).toBe(true);
      expect((await store.get(widgets, keyOf(made))).spec.size).toBe(1);
    });

    it('hold objects by finalizers and wait for their end', async () => {
      const { store, widgets } = scene;
      const made = await ensureFinalizer(
        store,
        widgets,
        await store.create(widgets, widget(scene, scene.name())),
        FINALIZER,
      );
      const deleting = (await store.delete(widgets, keyOf(made))) as KubeObject;
      const gone = waitForGone(store, widgets, keyOf(made), { timeoutMs: 10_000 });
      expect(await removeFinalizer(store, widgets, deleting, FINALIZER)).toBeUndefined();
      await gone;
    });

    it('record events, counting repeats, also about cluster-scoped objects', async () => {
      const { store, namespace } = scene;
      const recorder = new EventRecorder({ store, component: 'conformance' });
      const made = await store.create(configMaps, configMap(scene, scene.name()));
      for (let i = 0; i < 3; i++) recorder.record(made, 'Warning', 'Tried', 'and failed');
      recorder.record(await store.get(namespaces, { name: namespace }), 'Normal', 'Seen', 'a namespace');
      await recorder.flush();
      const about = async (uid: string | undefined) =>
        (await store.list(events, { fieldSelector: `involvedObject.uid=${uid}` })).items;
      expect(await about(made.metadata.uid)).toMatchObject([{ count: 3, reason: 'Tried', type: 'Warning' }]);
      const { uid } = (await store.get(namespaces, { name: namespace })).metadata;
      expect(await about(uid)).toMatchObject([{ reason: 'Seen', metadata: { namespace: 'default' } }]);
    });

    it('elect a leader and hand over', async () => {
      const { store, namespace } = scene;
      const lease = { namespace, name: scene.name('lease') };
      const times = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 300 };
      const log: string[] = [];
      const candidate = (identity: string) => {
        const stop = new AbortController();
        const running = new LeaderElector({ store, lease, identity, ...times }).run(stop.signal, async (signal) => {
          log.push(identity);
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        });
        return async () => {
          stop.abort();
          await running;
        };
      };
      const stopA = candidate('a');
      await expect.poll(() => log, { timeout: 10_000 }).toEqual(['a']);
      const stopB = candidate('b');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(log).toEqual(['a']);
      await stopA();
      // Long before the lease would have run out.
      await expect.poll(() => log, { timeout: 8_000 }).toEqual(['a', 'b']);
      const { spec } = await store.get(leases, lease);
      expect(spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
      await stopB();
    }, 30_000);

    it('make the world match, from watch to status to clean end', async () => {
      const { store, namespace, widgets } = scene;
      const manager = new Manager({ store });
      const informer = manager.informers.for(widgets, { namespace });
      manager.addController({
        name: 'widget',
        resource: widgets,
        selection: { namespace },
        owns: [configMaps],
        async reconcile(key) {
          const cached = informer.get(key);
          if (!cached) return;
          if (cached.metadata.deletionTimestamp) {
            await store.delete(configMaps, key).catch((error) => {
              if (!isNotFound(error)) throw error;
            });
            await removeFinalizer(store, widgets, cached, FINALIZER);
            return;
          }
          const owner = await ensureFinalizer(store, widgets, cached, FINALIZER);
          const child = configMap(scene, key.name, { size: `${owner.spec.size}` });
          await store.create(configMaps, withController(child, owner)).catch((error) => {
            if (!isAlreadyExists(error)) throw error;
          });
          const helper = new PatchHelper(store, widgets, owner);
          const draft = helper.draft();
          condition(draft, 'Ready');
          await helper.patch(draft);
        },
      });
      const stop = new AbortController();
      const running = manager.run(stop.signal);
      const made = await Promise.all(
        Array.from({ length: 20 }, () => store.create(widgets, widget(scene, scene.name('managed')))),
      );
      const options = { timeoutMs: 20_000 };
      for (const object of made) {
        const ready = await waitForCondition(store, widgets, keyOf(object), 'Ready', options);
        expect(getCondition(ready, 'Ready')?.lastTransitionTime).toBe(
          rfc3339(Date.parse(getCondition(ready, 'Ready')?.lastTransitionTime ?? '')),
        );
      }
      // What is owned comes back when somebody takes it away.
      const first = keyOf(made[0] as KubeObject);
      const { uid } = (await store.get(configMaps, first)).metadata;
      await store.delete(configMaps, first);
      await waitFor(store, configMaps, first, (object) => object !== undefined && object.metadata.uid !== uid, options);
      await Promise.all(made.map((object) => store.delete(widgets, keyOf(object))));
      for (const object of made) {
        await waitForGone(store, widgets, keyOf(object), options);
        await waitForGone(store, configMaps, keyOf(object), options);
      }
      stop.abort();
      await running;
    }, 60_000);
  });
}

/**
 * An informer on a connection that is cut, frozen and refused while others write: afterwards it must hold exactly what
 * the server holds, and must have told a story without gaps, repeats or steps back. For any API server behind HTTPS.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { type Connection, Informer, keyOf, keyText, listAll, RemoteStore } from '../../../src/kube/index.ts';
import { seededRandom } from '../../../src/kube/testing/fake-clock.ts';
import { type FlakyProxy, startFlakyProxy } from '../../../src/kube/testing/flaky-proxy.ts';
import { configMaps, namespaces } from './scene.ts';

export interface ServerUnderTest {
  connection: Connection;
  close?(): Promise<void>;
}

export function informerConformance(name: string, makeServer: () => Promise<ServerUnderTest>, seconds = 10): void {
  describe(`informer on a bad connection: ${name}`, () => {
    let server: ServerUnderTest;
    let proxy: FlakyProxy;
    let direct: RemoteStore;
    let flaky: RemoteStore;
    const namespace = `informer-${randomBytes(4).toString('hex')}`;
    beforeAll(async () => {
      server = await makeServer();
      proxy = await startFlakyProxy(server.connection);
      direct = new RemoteStore({ connection: server.connection });
      flaky = new RemoteStore({ connection: proxy.connection, timeoutMs: 3_000 });
      await direct.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    }, 120_000);
    afterAll(async () => {
      await Promise.all([flaky.close(), direct.close(), proxy.close()]);
      await server.close?.();
    });

    it(
      'ends with what the server has, having told every change in order',
      async () => {
        const story = new Story();
        const informer = new Informer({
          store: flaky,
          resource: configMaps,
          selection: { namespace },
          backoff: { baseMs: 20, maxMs: 200 },
          silenceMs: 1_500,
        });
        informer.addHandler(story);
        const stop = new AbortController();
        const running = informer.run(stop.signal);
        const end = Date.now() + seconds * 1_000;
        const [writes, breaks] = await Promise.all([write(direct, namespace, end), torment(proxy, end)]);

        const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'last' } };
        await direct.create(configMaps, last);
        await expect.poll(() => informer.get(keyOf(last)), { timeout: 20_000 }).toBeDefined();
        stop.abort();
        await running;

        const stored = (await listAll(direct, configMaps, { namespace })).items;
        const versions = (objects: KubeObject[]) =>
          objects.map((object) => `${keyText(keyOf(object))}@${object.metadata.resourceVersion}`).sort();
        expect(versions(informer.list())).toEqual(versions(stored));
        expect(versions([...story.objects.values()])).toEqual(versions(stored));
        expect(story.mistakes).toEqual([]);
        expect(writes).toBeGreaterThan(20);
        expect(breaks).toBeGreaterThan(5);
      },
      seconds * 1_000 + 60_000,
    );
  });
}

/** Believes what a handler is told, and notes what cannot be. */
class Story {
  readonly objects = new Map<string, KubeObject>();
  readonly mistakes: string[] = [];

  added(object: KubeObject): void {
    const key = keyText(keyOf(object));
    if (this.objects.has(key)) this.mistakes.push(`${key} was added twice`);
    this.objects.set(key, object);
  }

  updated(object: KubeObject, old: KubeObject): void {
    const key = keyText(keyOf(object));
    if (this.objects.get(key) !== old) this.mistakes.push(`${key} was updated from a state nobody was told of`);
    if (Number(object.metadata.resourceVersion) <= Number(old.metadata.resourceVersion)) {
      this.mistakes.push(`${key} went back`);
    }
    this.objects.set(key, object);
  }

  deleted(object: KubeObject): void {
    const key = keyText(keyOf(object));
    if (!this.objects.delete(key)) this.mistakes.push(`${key} was deleted but never added`);
  }
}

async function write(store: RemoteStore, namespace: string, end: number): Promise<number> {
  const random = seededRandom(7);
  let writes = 0;
  while (Date.now() < end) {
    const name = `k${Math.floor(random.float() * 12)}`;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { n: `${writes++}` } };
    const ignore = () => {};
    if (random.float() < 0.3) await store.delete(configMaps, { namespace, name }).catch(ignore);
    else if (random.float() < 0.5) await store.create(configMaps, object).catch(ignore);
    else await store.update(configMaps, object).catch(ignore);
    await new Promise((resolve) => setTimeout(resolve, random.float() * 15));
  }
  return writes;
}

async function torment(proxy: FlakyProxy, end: number): Promise<number> {
  const random = seededRandom(11);
  let breaks = 0;
  while (Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50 + random.float() * 500));
    const choice = random.float();
    if (choice < 0.7) proxy.cut();
    else if (choice < 0.8) proxy.freeze();
    else {
      proxy.refuse(true);
      proxy.cut();
      setTimeout(() => proxy.refuse(false), 300);
    }
    breaks++;
  }
  proxy.refuse(false);
  return breaks;
}

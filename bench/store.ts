/**
 * What the store does in a second without a server around it, and what an open one costs. Part of `bench/main.ts`
 * (`--only store`); memory is read best with `node --expose-gc --import tsx bench/main.ts --only store`.
 */
import { join } from 'node:path';
import type { KubeObject } from '../src/api/object.ts';
import { cloneStore, dropStore } from '../src/apiserver/store/clone.ts';
import { openStore } from '../src/apiserver/store/sqlite-store.ts';
import type { Store } from '../src/apiserver/store/store.ts';
import { systemClock } from '../src/clock.ts';
import type { Row } from './table.ts';
import { elapsed as ms, quantile } from './timing.ts';

const options = { clock: systemClock };
let dir = '';
let stores = 0;
let rows: Row[] = [];

/** Works in an empty folder; `count` stores are open at once in its last part. */
export async function measureStore(folder: string, count: number): Promise<Row[]> {
  dir = folder;
  stores = count;
  rows = [];
  await throughput();
  await latency();
  await reads();
  await fanOut();
  await files();
  return rows;
}

const report = (what: string, ours: number, unit: string) => rows.push({ what: `store: ${what}`, ours, unit });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** About 1.5 kB, as a small pod is. */
const pod = (name: string, n: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    uid: '00000000-0000-4000-8000-000000000000',
    labels: { app: 'web', tier: 'front', n: String(n) },
  },
  spec: {
    containers: Array.from({ length: 3 }, (_, i) => ({
      name: `c${i}`,
      image: 'registry.example/web:1.2.3',
      env: Array.from({ length: 5 }, (_, e) => ({ name: `VAR_${e}`, value: `some value number ${n}` })),
      resources: { requests: { cpu: '100m', memory: '128Mi' } },
    })),
  },
});
const key = (name: string) => ({ resource: '/pods', namespace: 'default', name });

async function writes(store: Store, prefix: string, total: number, concurrency: number): Promise<number> {
  let next = 0;
  const worker = async () => {
    while (next < total) {
      const n = next++;
      await store.write((tx) => tx.put(key(`${prefix}${n}`), pod(`${prefix}${n}`, n)));
    }
  };
  const took = await ms(() => Promise.all(Array.from({ length: concurrency }, worker)));
  return (total / took) * 1000;
}

async function throughput(): Promise<void> {
  for (const synchronous of ['normal', 'full'] as const) {
    for (const concurrency of [1, 32]) {
      const store = openStore(join(dir, `w-${synchronous}-${concurrency}.db`), { ...options, synchronous });
      await writes(store, 'warm', 200, concurrency);
      const total = synchronous === 'full' ? 1000 : 5000;
      report(`creates, ${concurrency} at once, ${synchronous}`, await writes(store, 'a', total, concurrency), '1/s');
      if (synchronous === 'normal') {
        const again = { ...pod('hot', 0) };
        const took = await ms(async () => {
          for (let n = 0; n < 2000; n++) {
            again.status = { n };
            await store.write((tx) => tx.put(key('hot'), again));
          }
        });
        if (concurrency === 1) report('updates of one object, 1 at once', 2_000_000 / took, '1/s');
      }
      await store.close();
    }
  }
}

/** How long anyone else has to wait for the event loop while it writes, checkpoints and compacts. */
async function latency(): Promise<void> {
  const store = openStore(join(dir, 'l.db'), { ...options, retention: false });
  await writes(store, 'warm', 500, 32);
  const delays: number[] = [];
  let last = performance.now();
  let running = true;
  const watching = (async () => {
    while (running) {
      await turn();
      delays.push(performance.now() - last);
      last = performance.now();
    }
  })();
  await writes(store, 'a', 20_000, 32);
  report('longest turn, 20,000 creates by 32', Math.max(...delays), 'ms');
  report('p99 turn of that', quantile(delays, 0.99), 'ms');
  for (let n = 0; n < 200; n++) {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => store.write((tx) => tx.put(key(`a${i}`), pod(`a${i}`, n * 1000 + i)))),
    );
  }
  delays.length = 0;
  report('compaction of 40,000 revisions', await ms(() => store.compact(store.rv)), 'ms');
  report('longest turn of that', Math.max(...delays), 'ms');
  running = false;
  await watching;
  await store.close();
}

async function reads(): Promise<void> {
  const store = openStore(join(dir, 'r.db'), options);
  await writes(store, 'p', 10_000, 64);
  const then = store.rv;
  await Promise.all(Array.from({ length: 500 }, (_, n) => store.write((tx) => tx.put(key(`p${n}`), pod(`p${n}`, -n)))));
  const list = (limit: number, parse: boolean, atRv?: number): number => {
    let longest = 0;
    let after: { namespace: string; name: string } | undefined;
    for (;;) {
      const start = performance.now();
      const page = store.list({ resource: '/pods', limit, after, atRv });
      if (parse) for (const item of page.items) item.object();
      longest = Math.max(longest, performance.now() - start);
      if (!page.more) return longest;
      after = page.items.at(-1)?.key;
    }
  };
  list(500, true);
  let longest = 0;
  const run = async (what: string, parse: boolean, atRv?: number) => {
    const samples: number[] = [];
    for (let i = 0; i < 5; i++) {
      samples.push(
        await ms(() => {
          longest = Math.max(longest, list(500, parse, atRv));
        }),
      );
    }
    report(what, quantile(samples, 0.5), 'ms');
  };
  await run('list 10,000 in pages of 500, JSON', false);
  await run('list 10,000 in pages of 500, parsed', true);
  await run('list 10,000 at an older version', false, then);
  report('longest page of 500', longest, 'ms');
  report('count of 10,000', (await ms(() => store.count('/pods'))) as number, 'ms');
  const took = await ms(() => {
    for (let n = 0; n < 10_000; n++) store.get(key(`p${n}`))?.object();
  });
  report('get, parsed', took / 10, 'µs');
  await replay(store);
  await store.close();
}

async function replay(store: Store): Promise<void> {
  let seen = 0;
  let longest = 0;
  let last = performance.now();
  const took = await ms(async () => {
    const stop = store.watch({ resource: '/pods', afterRv: 0 }, () => seen++);
    last = performance.now();
    while (seen < store.rv) {
      await turn();
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    stop();
  });
  report('watch from 10,500 changes behind', took, 'ms');
  report('longest turn of that', longest, 'ms');
}

async function fanOut(): Promise<void> {
  const store = openStore(join(dir, 'f.db'), options);
  await writes(store, 'warm', 200, 1);
  let delivered = 0;
  const latencies: number[] = [];
  let sent = 0;
  for (let i = 0; i < 100; i++) {
    store.watch({ resource: '/pods', afterRv: store.rv }, (event) => {
      event.current.object();
      delivered++;
      if (i === 99) latencies.push(performance.now() - sent);
    });
  }
  for (let n = 0; n < 500; n++) {
    sent = performance.now();
    await store.write((tx) => tx.put(key(`f${n}`), pod(`f${n}`, n)));
  }
  report('write → last of 100 watchers, p50', quantile(latencies, 0.5), 'ms');
  report('write → last of 100 watchers, p99', quantile(latencies, 0.99), 'ms');
  delivered = 0;
  const took = await ms(() => writes(store, 'g', 2000, 32));
  report('events to 100 watchers', (delivered / took) * 1000, '1/s');
  await store.close();
}

async function files(): Promise<void> {
  const template = join(dir, 'template.db');
  const prepared = openStore(template, options);
  await writes(prepared, 'ns', 20, 20);
  await prepared.close();
  const open: Store[] = [];
  const made: number[] = [];
  global.gc?.();
  const before = process.memoryUsage().rss;
  for (let n = 0; n < stores; n++) {
    const file = join(dir, `t${n}.db`);
    made.push(
      await ms(async () => {
        await cloneStore(template, file);
        const store = openStore(file, options);
        store.get(key('ns1'));
        open.push(store);
      }),
    );
  }
  global.gc?.();
  report('clone + open + first get, p50', quantile(made, 0.5), 'ms');
  report('clone + open + first get, p99', quantile(made, 0.99), 'ms');
  report('memory of an open store, only read', (process.memoryUsage().rss - before) / stores / 1024, 'kB');
  for (const store of open) await writes(store, 'x', 20, 4);
  global.gc?.();
  report('memory of an open store, after 20 writes', (process.memoryUsage().rss - before) / stores / 1024, 'kB');
  const reopened = await ms(async () => {
    for (const store of open) await store.close();
    for (let n = 0; n < stores; n++) open[n] = openStore(join(dir, `t${n}.db`), options);
  });
  report('close + open', reopened / stores, 'ms');
  const gone = await ms(async () => {
    for (const store of open) await store.close();
    for (let n = 0; n < stores; n++) await dropStore(join(dir, `t${n}.db`));
  });
  report('close + drop', gone / stores, 'ms');
}

/** Writes to a store as fast as it can, saying on stdout what was acknowledged and what a watcher saw, until killed. */
import { writeSync } from 'node:fs';
import { openStore } from '../../src/apiserver/store/sqlite-store.ts';
import { systemClock } from '../../src/clock.ts';

const store = openStore(process.argv[2] ?? '', { clock: systemClock, retention: false });

/** At once and whole, whatever happens next: what waits in a buffer dies with the process. */
function say(...words: unknown[]): void {
  let rest = Buffer.from(`${words.join(' ')}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full: the reader is slower than the store.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

store.watch({ afterRv: store.rv }, ({ type, rv, current }) => {
  say('saw', rv, type, current.key.name, current.object().spec.n);
});

let n = 0;
async function write(): Promise<void> {
  for (;;) {
    const mine = ++n;
    const name = `c${Math.floor(Math.random() * 40)}`;
    const key = { resource: '/configmaps', namespace: 'default', name };
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      spec: { n: `${process.pid}-${mine}`, padding: 'x'.repeat(Math.random() * 3000) },
    };
    const stored = await store.write((tx) => (Math.random() < 0.2 ? tx.delete(key) : tx.put(key, object)));
    if (stored) say('ack', stored.rv, name, stored.object().spec.n);
    if (mine % 1000 === 0) await store.compact(store.rv - 2000);
  }
}

say('ready', store.rv);
await Promise.all(Array.from({ length: 16 }, write));

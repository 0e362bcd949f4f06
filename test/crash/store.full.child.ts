/** Writes until the disk is full, waits for stdin to end (room again), writes on and tells how it went. */

import { openStore } from '../../src/apiserver/store/sqlite-store.ts';
import { systemClock } from '../../src/clock.ts';
import { RookeryError } from '../../src/errors.ts';

const store = openStore(process.argv[2] ?? '', { clock: systemClock });
const rvs: number[] = [];
store.watch({ afterRv: 0 }, (event) => rvs.push(event.rv));
let n = 0;
const put = () => {
  const name = `c${n++}`;
  const spec = { padding: 'x'.repeat(3000) };
  return store.write((tx) =>
    tx.put(
      { resource: '/configmaps', namespace: 'default', name },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, spec },
    ),
  );
};

let failure: unknown;
let sameAfterFailure = false;
while (failure === undefined) {
  const before = store.rv;
  const results = await Promise.allSettled([put(), put(), put()]);
  failure = results.find((result) => result.status === 'rejected')?.reason;
  if (failure) sameAfterFailure = store.rv === before && store.count('/configmaps') === before;
}
console.log('full', String(failure));
for await (const _ of process.stdin);
for (let i = 0; i < 5; i++) await put();
const gapless = rvs.every((rv, i) => rv === i + 1) && rvs.length === store.rv;
const retry = failure instanceof RookeryError && failure.retry;
console.log(JSON.stringify({ retry, gapless, sameAfterFailure, rv: store.rv }));
await store.close();

/** Takes snapshots of a store and goes back to them, over and over, saying how far it came, until killed. */
import { rmSync, writeSync } from 'node:fs';
import { restoreInto } from '../../src/apiserver/store/snapshot.ts';
import { openStore } from '../../src/apiserver/store/sqlite-store.ts';
import { systemClock as clock } from '../../src/clock.ts';

const [file = '', copy = ''] = process.argv.slice(2);
const store = openStore(file, { clock, retention: false });
const say = (...words: unknown[]) => void writeSync(1, `${words.join(' ')}\n`);

/** Every key of a state holds the same word: a state that is mixed of two shows. */
async function write(word: string, from: number, to: number): Promise<void> {
  await store.write((tx) => {
    for (const { key } of tx.list('/configmaps')) tx.delete(key);
    for (let n = from; n < to; n++) {
      const metadata = { name: `c${n}`, uid: `${word}-${n}` };
      const data = { word, padding: 'x'.repeat(2000) };
      tx.put(
        { resource: '/configmaps', namespace: 'default', name: metadata.name },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      );
    }
  });
}

say('ready', store.rv);
for (let round = 0; ; round++) {
  await write(`then-${process.pid}-${round}`, 0, 60);
  rmSync(copy, { force: true });
  await store.snapshot(copy);
  say('kept', store.rv);
  await write(`later-${process.pid}-${round}`, 30, 90);
  say('changed', store.rv);
  const then = openStore(copy, { clock, readonly: true });
  await restoreInto(store, then).finally(() => then.close());
  say('restored', store.rv);
}

import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { storeFailure } from './failure.ts';
import { openFile } from './format.ts';
import { Log } from './log.ts';
import type { ChangeEvent, Sealer } from './store.ts';
import { values } from './values.ts';
import { Writer } from './writer.ts';

const object = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { k: 'v' } });
const key = (name: string, resource = '/pods') => ({ resource, namespace: 'default', name });

class FragileLog extends Log {
  failOn: 'begin' | 'commit' | 'put' | undefined;
  #fail(at: string): void {
    if (this.failOn === at) throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_WRITE');
  }
  override begin(): void {
    this.#fail('begin');
    super.begin();
  }
  override commit(): void {
    this.#fail('commit');
    super.commit();
  }
  override put(...args: Parameters<Log['put']>): ReturnType<Log['put']> {
    this.#fail('put');
    return super.put(...args);
  }
}

function setUp() {
  const db = openFile(':memory:', { synchronous: 'normal', readonly: false });
  const meta = (name: string) => db.prepare('SELECT value FROM meta WHERE name = ?').get(name);
  const sealer = (): Sealer => {
    db.prepare("INSERT OR IGNORE INTO meta VALUES ('key', '1')").run();
    return { seal: (plain) => Buffer.from(plain), open: (sealed) => sealed.toString() };
  };
  const log = new FragileLog(
    db,
    values(sealer, (resource) => resource === '/secrets'),
  );
  const events: ChangeEvent[] = [];
  const writer = new Writer({
    log,
    rv: 0,
    beforeCommit: () => {},
    afterCommit: (batch) => events.push(...batch),
    failure: (error) => storeFailure(error, 'the file'),
  });
  return { log, writer, events, meta };
}

describe('a failing disk', () => {
  it.each(['begin', 'commit', 'put'] as const)('at %s fails the batch and leaves no trace of it', async (at) => {
    const { log, writer, events, meta } = setUp();
    await writer.write((tx) => tx.put(key('kept'), object('kept')));
    log.failOn = at;
    const swallowing = writer.write((tx) => {
      try {
        tx.put(key('s', '/secrets'), object('s'));
      } catch {
        // Must not turn a failure of the disk into a success.
      }
    });
    const results = await Promise.allSettled([
      writer.write((tx) => tx.delete(key('kept'))),
      swallowing,
      writer.write((tx) => tx.put(key('new', 'new.group/things'), object('new'))),
    ]);
    const failed = results.filter((r) => r.status === 'rejected').map((r) => r.reason);
    expect(failed.length).toBeGreaterThanOrEqual(2);
    for (const reason of failed) expect(reason).toMatchObject({ code: 'store.failed', retry: true });
    expect([writer.rv, events.length]).toEqual([1, 1]);
    expect(log.get(key('kept'))?.rv).toBe(1);
    expect(log.get(key('new', 'new.group/things'))).toBeUndefined();
    expect(meta('key')).toBeUndefined();

    log.failOn = undefined;
    const [secret, thing] = await Promise.all([
      writer.write((tx) => tx.put(key('s', '/secrets'), object('s'))),
      writer.write((tx) => tx.put(key('new', 'new.group/things'), object('new'))),
    ]);
    expect([secret.rv, thing.rv, writer.rv]).toEqual([2, 3, 3]);
    expect(meta('key')).toBeDefined();
    expect(events.map((event) => event.rv)).toEqual([1, 2, 3]);
  });
});

describe('the queue', () => {
  it('commits in between when a batch takes long, in order', async () => {
    const { writer, events } = setUp();
    const order: number[] = [];
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        writer.write((tx) => {
          const until = performance.now() + 8;
          while (performance.now() < until);
          tx.put(key(`p${n}`), object(`p${n}`));
          order.push(n);
        }),
      ),
    );
    clearInterval(counting);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect(events.map((event) => event.rv)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(turns).toBeGreaterThan(0);
  });

  it('takes writes made by writes', async () => {
    const { writer } = setUp();
    let inner: Promise<unknown> | undefined;
    await writer.write(() => {
      inner = writer.write((tx) => tx.put(key('a'), object('a')));
    });
    await inner;
    await writer.drained();
    expect(writer.rv).toBe(1);
  });
});

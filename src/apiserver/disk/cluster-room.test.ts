import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../clock.ts';
import { openStore } from '../store/sqlite-store.ts';
import type { Room, Store } from '../store/store.ts';
import { ClusterRoom } from './cluster-room.ts';

const DISK: Room = { admit() {}, failed() {}, historyBytes: () => 32 * 2 ** 20 };
const key = (name: string) => ({ resource: 'apps/deployments', namespace: 'default', name });
const object = (name: string, size: number, metadata = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
  data: 'x'.repeat(size),
});

let limit: { bytes: number; objects: number };
let store: Store;
beforeEach(() => {
  limit = { bytes: 10_000, objects: 3 };
  store = openStore(':memory:', { clock, room: new ClusterRoom(DISK, () => limit) });
});
afterEach(() => store.close());

const put = (name: string, size: number, metadata?: object) =>
  store.write((tx) => tx.put(key(name), object(name, size, metadata)));

describe('the room of a cluster', () => {
  it('ends at its bytes, in the words of ResourceQuota; what shrinks or goes always passes', async () => {
    await put('a', 9_000);
    const refused = put('b', 5_000);
    await expect(refused).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });
    await expect(refused).rejects.toThrow(
      /^deployments\.apps "b" is forbidden: exceeded quota: cluster-storage, requested: bytes=51\d\d, used: bytes=91\d\d, limited: bytes=10000$/,
    );
    await expect(put('a', 9_999)).rejects.toMatchObject({ code: 403 });
    await put('a', 8_999);
    limit = { bytes: 10, objects: 3 };
    await put('a', 8_998);
    await put('a', 9_100, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    await store.write((tx) => tx.delete(key('a')));
    expect(store.usage).toEqual({ objects: 0, bytes: 0 });
  });

  it('ends at its number of objects, counts those of the same transaction, and takes refused ones back', async () => {
    const many = store.write((tx) => {
      for (const name of ['a', 'b', 'c', 'd']) tx.put(key(name), object(name, 1));
    });
    await expect(many).rejects.toThrow('requested: objects=1, used: objects=3, limited: objects=3');
    expect(store.usage).toEqual({ objects: 0, bytes: 0 });
    const results = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => put(name, 1)));
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(store.usage.objects).toBe(3);
  });

  it('leaves less for history the fuller it is', () => {
    const room = new ClusterRoom(DISK, () => ({ bytes: 100 * 2 ** 20, objects: 10 }));
    expect(room.historyBytes({ bytes: 0, objects: 0 })).toBe(32 * 2 ** 20);
    expect(room.historyBytes({ bytes: 80 * 2 ** 20, objects: 0 })).toBe(20 * 2 ** 20);
    expect(room.historyBytes({ bytes: 100 * 2 ** 20, objects: 0 })).toBe(8 * 2 ** 20);
  });
});

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { EventRecorder, events } from './events.ts';
import { interceptStore } from './intercept-store.ts';
import { ConnectionError, KubeError } from './kube-error.ts';
import { FakeClock, seededRandom } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';

const about: KubeObject = {
  apiVersion: 'test.dev/v1',
  kind: 'Thing',
  metadata: { namespace: 'n', name: 'a', uid: 'u', resourceVersion: '5' },
};

function scene(before: () => void = () => {}) {
  const clock = new FakeClock();
  const random = seededRandom();
  const memory = new MemoryStore(clock, random);
  const recorder = new EventRecorder({ store: interceptStore(memory, { before }), component: 'test', clock, random });
  const all = async () => (await memory.list(events)).items;
  return { clock, memory, recorder, all };
}

describe('EventRecorder', () => {
  it('writes a core event about the object', async () => {
    const { recorder, all } = scene();
    recorder.record(about, 'Warning', 'Stuck', 'no image');
    await recorder.flush();
    expect(await all()).toMatchObject([
      {
        kind: 'Event',
        metadata: { namespace: 'n', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
        involvedObject: {
          apiVersion: 'test.dev/v1',
          kind: 'Thing',
          namespace: 'n',
          name: 'a',
          uid: 'u',
          resourceVersion: '5',
        },
        type: 'Warning',
        reason: 'Stuck',
        message: 'no image',
        count: 1,
        source: { component: 'test' },
        firstTimestamp: '2030-01-01T00:00:00Z',
      },
    ]);
  });

  it('counts repeats', async () => {
    const { clock, recorder, all } = scene();
    for (let i = 0; i < 3; i++) {
      recorder.record(about, 'Normal', 'Tried', 'again');
      await recorder.flush();
      await clock.advance(1_000);
    }
    const [event, ...others] = await all();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      count: 3,
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:02Z',
    });
  });

  it('starts over when the event has gone', async () => {
    const { memory, recorder, all } = scene();
    recorder.record(about, 'Normal', 'Tried', 'again');
    await recorder.flush();
    const [event] = await all();
    await memory.delete(events, { namespace: 'n', name: event?.metadata.name ?? '' });
    recorder.record(about, 'Normal', 'Tried', 'again');
    await recorder.flush();
    expect(await all()).toMatchObject([{ count: 1 }]);
  });

  it('combines many similar events', async () => {
    const { recorder, all } = scene();
    for (let i = 0; i < 20; i++) recorder.record(about, 'Normal', 'Tried', `number ${i}`);
    await recorder.flush();
    const written = await all();
    expect(written).toHaveLength(11);
    expect(written.at(-1)).toMatchObject({ count: 10, message: '(combined from similar events): number 19' });
  });

  it('cuts an object off that goes on and on, and lets it speak again later', async () => {
    const { clock, recorder, all } = scene();
    const total = async () => (await all()).reduce((sum, event) => sum + event.count, 0);
    for (let i = 0; i < 100; i++) recorder.record(about, 'Normal', `Reason${i}`, 'x');
    await recorder.flush();
    expect(await total()).toBe(25);
    await clock.advance(600_000);
    for (let i = 0; i < 100; i++) recorder.record(about, 'Normal', `Reason${i}`, 'x');
    await recorder.flush();
    expect(await total()).toBe(27);
  });

  it('hides secrets and shortens', async () => {
    const { recorder, all } = scene();
    recorder.record(about, 'Normal', 'Joined', 'with --token abcdef.0123456789abcdef');
    recorder.record(about, 'Normal', 'Long', 'x'.repeat(5_000));
    await recorder.flush();
    const [first, second] = await all();
    expect(first?.message).not.toContain('0123456789abcdef');
    expect(second?.message).toHaveLength(1024);
  });

  it('tries again when the server is away, and never throws', async () => {
    let failures = 2;
    const { clock, recorder, all } = scene(() => {
      if (failures-- > 0) throw new ConnectionError('away');
    });
    recorder.record(about, 'Normal', 'Tried', 'again');
    await clock.advance(10_000);
    await recorder.flush();
    expect(await all()).toHaveLength(1);

    const refused = scene(() => {
      throw new KubeError({ code: 403, reason: 'Forbidden' });
    });
    refused.recorder.record(about, 'Normal', 'Tried', 'again');
    await refused.recorder.flush();
    expect(await refused.all()).toEqual([]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { getCondition, setCondition } from './conditions.ts';
import { ensureFinalizer, removeFinalizer } from './finalizers.ts';
import { interceptStore } from './intercept-store.ts';
import { isConflict } from './kube-error.ts';
import { createMergePatch } from './merge-patch.ts';
import { PatchHelper } from './patch-helper.ts';
import { keyOf, type Patch, type ResourceRef } from './store.ts';
import { FakeClock, seededRandom } from './testing/fake-clock.ts';
import { MemoryStore } from './testing/memory-store.ts';

const things: ResourceRef = { group: 'test.dev', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };

async function scene(finalizers?: string[]) {
  const clock = new FakeClock();
  const memory = new MemoryStore(clock, seededRandom());
  const sent: string[] = [];
  const store = interceptStore(memory, {});
  const spy = {
    ...store,
    patch: (resource: ResourceRef, key: object, patch: Patch, options?: { subresource?: string }) => {
      sent.push(`${options?.subresource ?? 'main'} ${JSON.stringify(patch.body)}`);
      return memory.patch(resource, key as { name: string }, patch, options);
    },
  } as typeof store;
  const metadata = { namespace: 'n', name: 'a', labels: { x: '1' }, finalizers };
  const object = await memory.create<KubeObject>(things, {
    apiVersion: 'test.dev/v1',
    kind: 'Thing',
    metadata,
    spec: { size: 1, list: [1] },
  });
  const condition = (target: KubeObject, type: string, status: 'True' | 'False' = 'True') =>
    setCondition(target, { type, status, reason: 'Because' }, clock);
  return { clock, memory, store: spy, sent, object, condition };
}

describe('PatchHelper', () => {
  it('writes nothing when nothing changed', async () => {
    const { store, sent, object } = await scene();
    const helper = new PatchHelper(store, things, object);
    expect(await helper.patch(helper.draft())).toEqual(object);
    expect(sent).toEqual([]);
  });

  it('sends the smallest patches, status and the rest apart, unlocked where no list is replaced', async () => {
    const { store, sent, object, memory } = await scene();
    const helper = new PatchHelper(store, things, object);
    const draft = helper.draft();
    draft.spec.size = 2;
    draft.metadata.labels = { y: '2' };
    draft.status = { phase: 'Ready' };
    await memory.patch(things, keyOf(object), { type: 'merge', body: { spec: { color: 'red' } } });
    const stored = await helper.patch(draft);
    const { uid } = object.metadata;
    expect(sent).toEqual([
      `status {"status":{"phase":"Ready"},"metadata":{"uid":"${uid}"}}`,
      `main {"spec":{"size":2},"metadata":{"labels":{"x":null,"y":"2"},"uid":"${uid}"}}`,
    ]);
    expect(stored).toMatchObject({
      spec: { size: 2, color: 'red' },
      status: { phase: 'Ready' },
      metadata: { labels: { y: '2' } },
    });
  });

  it('locks what replaces a list, even after its own status patch', async () => {
    const { store, object, condition, memory } = await scene();
    const helper = new PatchHelper(store, things, object);
    const draft = helper.draft();
    draft.spec.list = [1, 2];
    condition(draft, 'Ready');
    const stored = await helper.patch(draft);
    expect(stored?.spec.list).toEqual([1, 2]);

    const second = new PatchHelper(store, things, stored as KubeObject);
    const late = second.draft();
    late.spec.list = [1, 2, 3];
    late.status.phase = 'X';
    await memory.patch(things, keyOf(object), { type: 'merge', body: { spec: { list: [9] } } });
    const error = await second.patch(late).catch((failure) => failure);
    expect(isConflict(error)).toBe(true);
    expect((await memory.get(things, keyOf(object))).spec.list).toEqual([9]);
  });

  it("keeps another controller's conditions", async () => {
    const { store, object, condition, memory } = await scene();
    condition(object, 'Mine', 'False');
    condition(object, 'Old');
    const before = await memory.updateStatus(things, object);
    const helper = new PatchHelper(store, things, before);
    const draft = helper.draft();
    condition(draft, 'Mine');
    draft.status.conditions = draft.status.conditions.filter((c: { type: string }) => c.type !== 'Old');
    draft.status.phase = 'Ready';

    const other = structuredClone(before);
    condition(other, 'Theirs');
    await memory.updateStatus(things, other);

    const stored = (await helper.patch(draft)) as KubeObject;
    expect(getCondition(stored, 'Mine')?.status).toBe('True');
    expect(getCondition(stored, 'Theirs')?.status).toBe('True');
    expect(getCondition(stored, 'Old')).toBeUndefined();
    expect(stored.status.phase).toBe('Ready');
  });

  it('gives way when the rest of the status changed under it', async () => {
    const { store, object, condition, memory } = await scene();
    const helper = new PatchHelper(store, things, object);
    const draft = helper.draft();
    condition(draft, 'Mine');
    await memory.updateStatus(things, { ...object, status: { phase: 'Theirs' } });
    expect(isConflict(await helper.patch(draft).catch((error) => error))).toBe(true);
  });

  it('never writes to a namesake', async () => {
    const { store, object, memory } = await scene();
    const helper = new PatchHelper(store, things, object);
    const draft = helper.draft();
    draft.spec.size = 5;
    await memory.delete(things, keyOf(object));
    await memory.create(things, { ...object, metadata: { namespace: 'n', name: 'a' } });
    expect(isConflict(await helper.patch(draft).catch((error) => error))).toBe(true);
  });

  it('writes a last status before the last finalizer goes', async () => {
    const { store, object, condition, memory } = await scene(['f']);
    const deleting = (await memory.delete(things, keyOf(object))) as KubeObject;
    const helper = new PatchHelper(store, things, deleting);
    const draft = helper.draft();
    condition(draft, 'Deleting');
    draft.metadata.finalizers = [];
    await helper.patch(draft);
    expect((await memory.list(things)).items).toEqual([]);
    expect(await helper.patch(draft)).toBeUndefined();
  });
});

describe('createMergePatch', () => {
  const json = fc.letrec((tie) => ({
    map: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value') as fc.Arbitrary<unknown>, { maxKeys: 3 }),
    value: fc.oneof(
      { depthSize: 'small' },
      fc.integer(),
      fc.string({ maxLength: 2 }),
      fc.array(fc.integer()),
      tie('map'),
    ),
  })).map;

  it('turns one into the other', () => {
    const apply = (target: unknown, patch: unknown): unknown => {
      if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
      const isMap = typeof target === 'object' && target !== null && !Array.isArray(target);
      const result: Record<string, unknown> = isMap ? { ...target } : {};
      for (const [field, value] of Object.entries(patch)) {
        if (value === null) delete result[field];
        else result[field] = apply(result[field], value);
      }
      return result;
    };
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(apply(before, createMergePatch(before, after) ?? {})).toEqual(after);
      }),
    );
  });
});

describe('finalizers', () => {
  it('are added once and removed with the object', async () => {
    const { store, sent, object, memory } = await scene();
    const kept = await ensureFinalizer(store, things, object, 'f');
    expect(kept.metadata.finalizers).toEqual(['f']);
    expect(await ensureFinalizer(store, things, kept, 'f')).toBe(kept);
    expect(sent).toHaveLength(1);
    const deleting = (await memory.delete(things, keyOf(object))) as KubeObject;
    expect(await ensureFinalizer(store, things, deleting, 'late')).toBe(deleting);
    expect(await removeFinalizer(store, things, deleting, 'f')).toBeUndefined();
    expect(await removeFinalizer(store, things, deleting, 'f')).toBeUndefined();
  });

  it('are removed though somebody wrote in between, and only ours', async () => {
    const { store, object, memory } = await scene(['ours', 'theirs']);
    await memory.patch(things, keyOf(object), { type: 'merge', body: { spec: { size: 9 } } });
    const left = await removeFinalizer(store, things, object, 'ours');
    expect(left).toMatchObject({ metadata: { finalizers: ['theirs'] }, spec: { size: 9 } });
  });
});

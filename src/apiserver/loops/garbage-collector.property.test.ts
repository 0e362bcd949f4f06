import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { garbageCollector } from './garbage-collector.ts';
import { configMap, namespace, ownerRef, TestCluster } from './testing/test-cluster.ts';

type Policy = 'Background' | 'Foreground' | 'Orphan';

interface Plan {
  /** For each object: which earlier ones own it, and whether it blocks them. */
  objects: { owners: number[]; blocks: boolean }[];
  deletions: { index: number; policy: Policy }[];
  /** After how many deletions the collector is stopped and another one started. */
  restart: number;
}

function plans(...policies: Policy[]): fc.Arbitrary<Plan> {
  return fc.record({
    objects: fc.array(fc.record({ owners: fc.uniqueArray(fc.nat(7), { maxLength: 3 }), blocks: fc.boolean() }), {
      minLength: 2,
      maxLength: 9,
    }),
    deletions: fc.uniqueArray(fc.record({ index: fc.nat(8), policy: fc.constantFrom(...policies) }), {
      minLength: 1,
      maxLength: 4,
      selector: (deletion) => deletion.index,
    }),
    restart: fc.nat(4),
  });
}

const ownersOf = (plan: Plan, i: number) => (plan.objects[i]?.owners ?? []).filter((owner) => owner < i);

/** Carries the plan out and returns who is left once nothing changes any more. */
async function carryOut(plan: Plan): Promise<Map<number, { refs: string[]; deleting: boolean }>> {
  const cluster = new TestCluster();
  try {
    await cluster.create(namespace('n'));
    const made: KubeObject[] = [];
    for (const [i, { blocks }] of plan.objects.entries()) {
      const object = configMap('n', `o${i}`);
      const refs = ownersOf(plan, i).map((owner) => ownerRef(made[owner] ?? object, blocks));
      if (refs.length) object.metadata.ownerReferences = refs;
      made.push(await cluster.create(object));
    }
    let stop = cluster.start(garbageCollector);
    for (const [n, { index, policy }] of plan.deletions.entries()) {
      if (n === plan.restart) {
        stop();
        stop = cluster.start(garbageCollector);
      }
      const object = made[index];
      if (object && cluster.get(object)) await cluster.delete(object, { propagationPolicy: policy }).catch(() => {});
    }
    let rv = -1;
    while (rv !== cluster.context.store.rv) {
      rv = cluster.context.store.rv;
      await cluster.settle();
    }
    expect(cluster.warnings).toEqual([]);
    const left = new Map<number, { refs: string[]; deleting: boolean }>();
    for (const [i, object] of made.entries()) {
      const live = cluster.get(object);
      const refs = (live?.metadata.ownerReferences ?? []).map((ref) => ref.name);
      if (live) left.set(i, { refs, deleting: live.metadata.deletionTimestamp !== undefined });
    }
    return left;
  } finally {
    await cluster.close();
  }
}

test('background and foreground: exactly those go that were deleted or have lost all owners', async () => {
  await fc.assert(
    fc.asyncProperty(plans('Background', 'Foreground'), async (plan) => {
      const left = await carryOut(plan);
      const gone = new Set(plan.deletions.map(({ index }) => index));
      for (const i of plan.objects.keys()) {
        const owners = ownersOf(plan, i);
        if (owners.length && owners.every((owner) => gone.has(owner))) gone.add(i);
      }
      expect([...left.keys()]).toEqual([...plan.objects.keys()].filter((i) => !gone.has(i)));
      for (const [i, { refs }] of left) {
        expect(refs).toEqual(
          ownersOf(plan, i)
            .filter((owner) => !gone.has(owner))
            .map((owner) => `o${owner}`),
        );
      }
    }),
    { numRuns: 12 },
  );
}, 60_000);

test('with orphaning too: nothing is left that waits, or that names an owner who is gone', async () => {
  await fc.assert(
    fc.asyncProperty(plans('Background', 'Foreground', 'Orphan'), async (plan) => {
      const left = await carryOut(plan);
      for (const [i, { refs, deleting }] of left) {
        expect(deleting).toBe(false);
        for (const ref of refs) expect(left.has(Number(ref.slice(1)))).toBe(true);
        expect(plan.deletions.map(({ index }) => index)).not.toContain(i);
      }
      const untouched = [...plan.objects.keys()].filter((i) => !ownersOf(plan, i).length);
      const deleted = new Set(plan.deletions.map(({ index }) => index));
      for (const i of untouched) expect(left.has(i)).toBe(!deleted.has(i));
    }),
    { numRuns: 12 },
  );
}, 60_000);

/**
 * The contract of `src/kube/store.ts` as tests, for any object store over any API server: remote and in-process, ours
 * and a real kube-apiserver. Needs no controller to run. Call it at the top level of a Vitest file.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { deletes } from './deletes.ts';
import { patches } from './patches.ts';
import { reads } from './reads.ts';
import { type Scene, type StoreUnderTest, setScene } from './scene.ts';
import { watches } from './watches.ts';
import { writes } from './writes.ts';

export type { StoreUnderTest } from './scene.ts';

export function objectStoreConformance(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`object store: ${name}`, () => {
    // Filled in before the first test; the tests read it when they run.
    const scene = {} as Scene;
    beforeAll(async () => setScene(scene, await makeStore()), 60_000);
    afterAll(() => scene.close?.(), 60_000);
    describe('writes', () => writes(scene));
    describe('patches', () => patches(scene));
    describe('reads', () => reads(scene));
    describe('watches', () => watches(scene));
    describe('deletes', () => deletes(scene));
  });
}

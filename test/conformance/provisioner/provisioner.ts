/**
 * The contract of `src/provisioners/provisioner.ts` as tests, for any provisioner on any world: real tools on the bed, or
 * scripts in their place. Call it at the top level of a Vitest file.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../../src/clock.ts';
import type {
  ClusterRef,
  ClusterRequest,
  Progress,
  Provisioner,
  Removal,
} from '../../../src/provisioners/provisioner.ts';

export interface ProvisionerUnderTest<Spec> {
  /** A new instance that knows only what is on disk and in the world, as after a crash of ours. */
  open(): Provisioner<Spec>;
  /** Begins the names of all clusters, so that two runs on one machine do not meet. */
  prefix: string;
  spec(name: string): Spec;
  /** Texts of the secrets its specs refer to. */
  access?: Readonly<Record<string, string>>;
  /** Ends the tools that run in the background, as the death of the machine would. */
  killTools(): Promise<void>;
  /** It has no network of its own: from inside and outside it is reached at the same address. */
  hasOneAddress?: boolean;
  /** Makes a cluster that is not ours; the answer removes it. */
  foreign(name: string): Promise<() => Promise<void>>;
  /** What is in the world that was not there before the tests. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
  /** How long a cluster may take. */
  patienceMs: number;
  /** No single call may take longer. */
  callMs: number;
  /** When to kill during a create, in milliseconds after its start. */
  killPoints: number[];
}

/** On a busy machine a real cluster may take minutes; what hangs is ended by `patienceMs`. */
const LONG = { timeout: 900_000 };

export function provisionerConformance<Spec>(title: string, make: () => Promise<ProvisionerUnderTest<Spec>>): void {
  describe(`provisioner: ${title}`, () => {
    let world: ProvisionerUnderTest<Spec>;
    beforeAll(async () => {
      world = await make();
    }, 240_000);
    afterAll(() => world?.close(), 240_000);

    const request = (id: string, name: string): ClusterRequest<Spec> => ({
      id: `${world.prefix}${id}`,
      name: `${world.prefix}${name}`,
      spec: world.spec(`${world.prefix}${name}`),
      ...(world.access ? { access: world.access } : {}),
      resolved: { image: '' },
      initialized: false,
    });
    const resolved = async (id: string, name: string) => {
      const wanted = request(id, name);
      return { ...wanted, resolved: await world.open().resolve(wanted) };
    };
    const timed = async <T>(call: () => Promise<T>): Promise<T> => {
      const started = Date.now();
      const answer = await call();
      expect(Date.now() - started, 'no call waits for the tool').toBeLessThan(world.callMs);
      return answer;
    };
    const ready = async (wanted: ClusterRequest<Spec>, provisioner = world.open()): Promise<Progress> => {
      const end = Date.now() + world.patienceMs;
      for (;;) {
        const progress = await timed(() => provisioner.ensure(wanted));
        if (progress.phase === 'ready') return progress;
        if (progress.phase === 'refused' || Date.now() > end) throw new Error(JSON.stringify(progress, null, 2));
        expect(progress.reason).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(progress.message).not.toBe('');
        await sleep(systemClock, progress.lookAgainMs ?? 100);
      }
    };
    const suspended = async (ref: ClusterRef<Spec>, provisioner: Provisioner<Spec>): Promise<void> => {
      const end = Date.now() + world.patienceMs;
      for (;;) {
        const progress = await timed(() => provisioner.suspend(ref));
        if (progress.phase === 'suspended') return;
        if (progress.phase !== 'working' || Date.now() > end) throw new Error(JSON.stringify(progress, null, 2));
        await sleep(systemClock, progress.lookAgainMs ?? 100);
      }
    };
    const gone = async (ref: ClusterRef<Spec>, provisioner = world.open()): Promise<Removal & { all: string[] }> => {
      const end = Date.now() + world.patienceMs;
      const all: string[] = [];
      for (;;) {
        const removal = await provisioner.remove(ref);
        all.push(...removal.removed);
        if (removal.isDone) return { ...removal, all };
        if (Date.now() > end) throw new Error(JSON.stringify(removal, null, 2));
        await sleep(systemClock, removal.lookAgainMs ?? 100);
      }
    };

    it('can be used here', LONG, async () => {
      expect(await world.open().probe()).toMatchObject({ isUsable: true });
      expect(await world.leftovers()).toEqual([]);
    });

    it('makes a cluster, finds it made, stops and starts it, removes it twice', LONG, async () => {
      const wanted = await resolved('1', 'one');
      const made = await ready(wanted);
      expect(made.cluster).toMatchObject({ phase: 'ready', version: expect.stringMatching(/^v1\./), missing: [] });
      const provisioner = world.open();
      expect(await provisioner.observe(wanted)).toMatchObject({ phase: 'ready' });
      const external = await provisioner.kubeconfig(wanted, 'external');
      const internal = await provisioner.kubeconfig(wanted, 'internal');
      expect(external).toContain(`:${made.cluster?.endpoint?.port}`);
      if (world.hasOneAddress) expect(internal).toBe(external);
      else expect(internal).not.toContain(`:${made.cluster?.endpoint?.port}`);
      const inventory = await provisioner.inventory([wanted]);
      expect(inventory.filter((thing) => thing.ref.id === wanted.id).length).toBeGreaterThan(0);

      const kept = { ...wanted, initialized: true };
      await ready(kept);
      expect(await world.open().inventory([wanted])).toEqual(inventory);

      await suspended(kept, provisioner);
      expect(await provisioner.observe(kept)).toMatchObject({ phase: 'suspended' });
      await ready(kept);
      expect(await world.open().inventory([wanted])).toEqual(inventory);

      const removal = await gone(wanted);
      expect(removal.all.length).toBeGreaterThan(0);
      expect(await world.leftovers()).toEqual([]);
      expect((await gone(wanted)).all).toEqual([]);
      expect(await provisioner.observe(wanted)).toMatchObject({ phase: 'absent' });
    });

    it('goes on with what a process before it began', LONG, async () => {
      const wanted = await resolved('2', 'two');
      await world.open().ensure(wanted);
      await ready(wanted, world.open());
      await gone(wanted);
      expect(await world.leftovers()).toEqual([]);
    });

    it('finishes a cluster whose making was killed, at any point', LONG, async () => {
      for (const [index, ms] of world.killPoints.entries()) {
        const wanted = await resolved(`kill-${index}`, 'kill');
        await world.open().ensure(wanted);
        await sleep(systemClock, ms);
        await world.killTools();
        await ready(wanted);
        await gone(wanted);
        expect(await world.leftovers(), `killed after ${ms} ms`).toEqual([]);
      }
    });

    it('removes a cluster whose making was killed, at any point', LONG, async () => {
      for (const [index, ms] of world.killPoints.entries()) {
        const wanted = await resolved(`half-${index}`, 'half');
        await world.open().ensure(wanted);
        await sleep(systemClock, ms);
        await world.killTools();
        await gone(wanted);
        expect(await world.leftovers(), `killed after ${ms} ms`).toEqual([]);
      }
    });

    it('removes a cluster while it is being made', LONG, async () => {
      for (const [index, ms] of world.killPoints.entries()) {
        const wanted = await resolved(`early-${index}`, 'early');
        const provisioner = world.open();
        await provisioner.ensure(wanted);
        await sleep(systemClock, ms);
        await gone(wanted, provisioner);
        expect(await world.leftovers(), `removed after ${ms} ms`).toEqual([]);
      }
    });

    it('refuses a name that is not ours, and leaves that cluster alone', LONG, async () => {
      const undo = await world.foreign(`${world.prefix}theirs`);
      const before = await world.leftovers();
      const wanted = await resolved('3', 'theirs');
      const provisioner = world.open();
      expect(await provisioner.ensure(wanted)).toMatchObject({ phase: 'refused', reason: 'NameTaken' });
      expect(await provisioner.observe(wanted)).toMatchObject({ phase: 'foreign' });
      expect((await gone(wanted)).all).toEqual([]);
      expect(await world.leftovers()).toEqual(before);
      await undo();
      expect(await world.leftovers()).toEqual([]);
    });

    it('tells two owners of one name apart', LONG, async () => {
      const first = await resolved('4', 'both');
      await ready(first);
      const second = { ...first, id: `${world.prefix}5` };
      expect(await world.open().ensure(second)).toMatchObject({ phase: 'refused', reason: 'NameTaken' });
      expect((await gone(second)).all).toEqual([]);
      expect(await world.open().observe(first)).toMatchObject({ phase: 'ready' });
      await gone(first);
      expect(await world.leftovers()).toEqual([]);
    });
  });
}

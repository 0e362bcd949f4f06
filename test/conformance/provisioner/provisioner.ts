/**
 * The contract of `src/provisioners/provisioner.ts` as tests, for any provisioner on any world: real tools on the bed, or
 * scripts in their place. Call it at the top level of a Vitest file.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configMaps } from '../../../src/api/resources.ts';
import { sleep, systemClock } from '../../../src/clock.ts';
import { kubeconfigConnection, RemoteStore } from '../../../src/kube/index.ts';
import type { ClusterRef, ClusterRequest, Progress, Provisioner } from '../../../src/provisioners/provisioner.ts';
import { Drive, type Limits } from './drive.ts';

export interface ProvisionerUnderTest<Spec> extends Limits {
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
  /** When to kill during a create, in milliseconds after its start. With one only, no cluster is made for that alone. */
  killPoints: number[];
  /** Its clusters can be asked: objects are written to them and must be there after a suspension. */
  servesApi?: boolean;
  /** `kubectl get namespaces -o name` from where internal kubeconfigs are for: a container on the cluster's network, a pod of its host. */
  namespacesFromInside?(ref: ClusterRef<Spec>, kubeconfig: string): Promise<string>;
  /** The same with so many nodes more, for those that scale in place. */
  scaled?(spec: Spec, more: number): Spec;
  /** One that cannot reach the world (Docker is dead, the host cluster does not answer); the world comes back at the end. */
  cutOff?(): Promise<{ provisioner: Provisioner<Spec>; end(): Promise<void> }>;
}

/** On a busy machine a real cluster may take minutes; what hangs is ended by `patienceMs`. */
const LONG = { timeout: 900_000 };
/** Fewer than a provisioner takes before it waits between its attempts. */
const KILLS_OF_ONE = 4;

export function provisionerConformance<Spec>(title: string, make: () => Promise<ProvisionerUnderTest<Spec>>): void {
  describe(`provisioner: ${title}`, () => {
    let world: ProvisionerUnderTest<Spec>;
    let drive: Drive<Spec>;
    beforeAll(async () => {
      world = await make();
      drive = new Drive(world);
    }, 240_000);
    afterAll(() => world?.close(), 240_000);

    const resolved = async (id: string, name: string): Promise<ClusterRequest<Spec>> => {
      const ref = {
        id: `${world.prefix}${id}`,
        name: `${world.prefix}${name}`,
        spec: world.spec(`${world.prefix}${name}`),
        place: 'this machine' as const,
        ...(world.access ? { access: world.access } : {}),
      };
      return { ...ref, resolved: await world.open().resolve(ref), initialized: false };
    };

    it('can be used here', LONG, async () => {
      expect(await world.open().probe()).toMatchObject({ isUsable: true });
      expect(await world.leftovers()).toEqual([]);
    });

    describe('a cluster', () => {
      let wanted: ClusterRequest<Spec>;
      let made: Progress;
      const kept = () => ({ ...wanted, initialized: true });
      /** Others may be at work in the same world. */
      const things = async () =>
        (await world.open().inventory([wanted])).filter(({ ref }) => ref.name.startsWith(world.prefix));

      it(
        'is begun by one process and finished by the next, also when what worked for the first was killed',
        LONG,
        async () => {
          wanted = await resolved('1', 'one');
          await world.open().ensure(wanted);
          if (world.killPoints.length === 1) {
            await sleep(systemClock, world.killPoints[0] as number);
            await world.killTools();
          }
          made = await drive.ready(wanted, world.open());
          expect(made.cluster).toMatchObject({ phase: 'ready', version: expect.stringMatching(/^v1\./), missing: [] });
          expect(await world.open().observe(wanted)).toMatchObject({ phase: 'ready' });
        },
      );

      it('is reached from outside and from inside', LONG, async () => {
        const provisioner = world.open();
        const external = await provisioner.kubeconfig(wanted, 'external');
        const internal = await provisioner.kubeconfig(wanted, 'internal');
        expect(external).toContain(`:${made.cluster?.endpoint?.port}`);
        if (world.hasOneAddress) expect(internal).toBe(external);
        else expect(internal).not.toContain(`:${made.cluster?.endpoint?.port}`);
        if (world.namespacesFromInside) {
          expect(await world.namespacesFromInside(wanted, internal)).toContain('namespace/kube-system');
        }
      });

      it('is found made when it is made again', LONG, async () => {
        const before = await things();
        expect(before.filter((thing) => thing.ref.id === wanted.id).length).toBeGreaterThan(0);
        await drive.ready(kept(), world.open());
        expect(await things()).toEqual(before);
      });

      it('belongs to one owner: another one with its name is refused and removes nothing', LONG, async () => {
        const other = { ...wanted, id: `${world.prefix}2` };
        expect(await world.open().ensure(other)).toMatchObject({ phase: 'refused', reason: 'NameTaken' });
        expect((await drive.gone(other, world.open())).all).toEqual([]);
        expect(await world.open().observe(wanted)).toMatchObject({ phase: 'ready' });
      });

      it('is not lost when the world cannot be reached: every call answers, none throws', LONG, async ({ skip }) => {
        if (!world.cutOff) return skip();
        const { provisioner, end } = await world.cutOff();
        const probe = await provisioner.probe();
        expect(probe).toMatchObject({ isUsable: false, why: expect.any(String), fix: expect.any(String) });
        for (const call of ['ensure', 'suspend', 'resume'] as const) {
          const answer = await provisioner[call](kept());
          expect(answer, call).toMatchObject({
            phase: 'blocked',
            message: expect.any(String),
            next: expect.any(String),
          });
          expect(answer.lookAgainMs, call).toBeGreaterThan(0);
        }
        expect(await provisioner.remove(wanted)).toMatchObject({ isDone: false, removed: [] });
        await end();
        await drive.ready(kept(), world.open());
      });

      it('keeps what it stored while it is suspended', LONG, async () => {
        const before = await things();
        if (world.servesApi) await store(wanted, (api) => api.create(configMaps, letter));
        await drive.suspended(kept(), world.open());
        expect(await world.open().observe(kept())).toMatchObject({ phase: 'suspended' });
        await drive.suspended(kept(), world.open());
        await drive.resumed(kept(), world.open());
        expect(await things()).toEqual(before);
        if (world.servesApi) {
          const found = await store(wanted, (api) => api.get(configMaps, letter.metadata));
          expect(found.data).toEqual(letter.data);
        }
      });

      it('goes back to what was kept, with the same credentials', LONG, async ({ skip }) => {
        if (!world.open().snapshot) return skip();
        const provisioner = world.open();
        const kubeconfig = await provisioner.kubeconfig(wanted, 'external');
        const draft = { ...letter, metadata: { ...letter.metadata, name: 'draft' } };
        expect(await provisioner.restore?.(wanted, 'never-kept')).toBe(false);
        await store(wanted, (api) => api.create(configMaps, draft));
        const other = { ...wanted, id: `${world.prefix}2` };
        await expect(provisioner.snapshot?.(other, 'mine')).rejects.toThrow();
        while (!(await provisioner.snapshot?.(wanted, 'draft'))) await sleep(systemClock, 100);
        await store(wanted, (api) => api.delete(configMaps, draft.metadata));
        // Asked for again, it is not what there is now.
        await world.killTools();
        expect(await world.open().snapshot?.(wanted, 'draft')).toBe(true);
        expect(await world.open().restore?.(wanted, 'draft')).toBe(true);
        const found = await store(wanted, (api) => api.get(configMaps, draft.metadata));
        expect(found.data).toEqual(draft.data);
        // The port may be another one after a restart; who one is stays.
        const token = /token: (\S+)/.exec(kubeconfig)?.[1];
        expect(await world.open().kubeconfig(wanted, 'external')).toContain(token ?? kubeconfig);
      });

      it('gets more nodes and fewer', LONG, async ({ skip }) => {
        const { scaled } = world;
        if (!scaled) return skip();
        const before = made.cluster?.nodes.length ?? 0;
        const more = await drive.ready({ ...kept(), spec: scaled(wanted.spec, 1) }, world.open());
        expect(more.cluster?.nodes).toHaveLength(before + 1);
        expect(more.cluster?.nodes.every((node) => node.ready)).toBe(true);
        const fewer = await drive.ready(kept(), world.open());
        expect(fewer.cluster?.nodes).toHaveLength(before);
        expect(fewer.cluster?.outdated).toBeUndefined();
      });

      it('is removed, twice', LONG, async () => {
        const removal = await drive.gone(wanted, world.open());
        expect(removal.all.length).toBeGreaterThan(0);
        expect(await world.leftovers()).toEqual([]);
        expect((await drive.gone(wanted, world.open())).all).toEqual([]);
        expect(await world.open().observe(wanted)).toMatchObject({ phase: 'absent' });
      });

      const store = async <T>(ref: ClusterRef<Spec>, use: (api: RemoteStore) => Promise<T>): Promise<T> => {
        const data = await world.open().kubeconfig(ref, 'external');
        const api = new RemoteStore({ connection: await kubeconfigConnection(data, 'this machine') });
        try {
          return await use(api);
        } finally {
          await api.close();
        }
      };
    });

    it('finishes a cluster whose making is killed again and again, at any point', LONG, async ({ skip }) => {
      if (world.killPoints.length === 1) return skip();
      for (let first = 0; first < world.killPoints.length; first += KILLS_OF_ONE) {
        const points = world.killPoints.slice(first, first + KILLS_OF_ONE);
        const wanted = await resolved(`kill-${first}`, 'kill');
        for (const ms of points) {
          await world.open().ensure(wanted);
          await sleep(systemClock, ms);
          await world.killTools();
        }
        await drive.ready(wanted, world.open());
        await drive.gone(wanted, world.open());
        expect(await world.leftovers(), `killed after ${points} ms`).toEqual([]);
      }
    });

    it('removes a cluster whose making was killed, at any point', LONG, async () => {
      for (const [index, ms] of world.killPoints.entries()) {
        const wanted = await resolved(`half-${index}`, 'half');
        await world.open().ensure(wanted);
        await sleep(systemClock, ms);
        await world.killTools();
        await drive.gone(wanted, world.open());
        expect(await world.leftovers(), `killed after ${ms} ms`).toEqual([]);
      }
    });

    it('removes a cluster while it is being made', LONG, async () => {
      for (const [index, ms] of world.killPoints.entries()) {
        const wanted = await resolved(`early-${index}`, 'early');
        const provisioner = world.open();
        await provisioner.ensure(wanted);
        await sleep(systemClock, ms);
        await drive.gone(wanted, provisioner);
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
      expect((await drive.gone(wanted, world.open())).all).toEqual([]);
      expect(await world.leftovers()).toEqual(before);
      await undo();
      expect(await world.leftovers()).toEqual([]);
    });
  });
}

const letter = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'conformance-letter', namespace: 'default' },
  data: { text: 'still here' },
};

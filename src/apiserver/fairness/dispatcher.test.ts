import { beforeEach, describe, expect, it } from 'vitest';
import { type Chance, seeded } from '../../../test/harness/seeded.ts';
import { ManualClock } from '../loops/testing/test-cluster.ts';
import { Dispatcher } from './dispatcher.ts';
import type { LevelSpec } from './level-spec.ts';
import type { Seat } from './seat.ts';
import { Tenant } from './tenant.ts';
import type { Refusal, Refused } from './waiter.ts';

const QUEUING = { queues: 64, handSize: 4, queueLengthLimit: 50 };
const level = (name: string, more: Partial<LevelSpec> = {}): LevelSpec => ({
  name,
  uid: name,
  isExempt: false,
  shares: 10,
  lendablePercent: 0,
  queuing: QUEUING,
  ...more,
});
const EXEMPT = level('exempt', { isExempt: true, shares: 0, queuing: undefined });

/** Turns of the event loop and time pass only when the test says so. */
class Scene {
  readonly clock = new ManualClock();
  readonly dispatcher: Dispatcher;
  /** What started, in order. */
  readonly started: string[] = [];
  readonly refused: { name: string; reason: Refusal }[] = [];
  readonly seats = new Map<string, Seat>();
  #turns: (() => void)[] = [];

  readonly seatCount: number;

  constructor(seats: number) {
    this.seatCount = seats;
    this.dispatcher = new Dispatcher({ clock: this.clock, nextTurn: (go) => this.#turns.push(go), seats });
  }

  /** Returns the function that makes its client leave. */
  ask(
    name: string,
    tenant: Tenant,
    levels: LevelSpec[],
    { level = levels[0]?.name ?? '', width = 1, flow = name, isList = false, patience = 1000 } = {},
  ): () => void {
    const at = tenant.level(level, tableOf(levels));
    const begin = (seat: Seat) => {
      this.started.push(name);
      this.seats.set(name, seat);
    };
    const seat = this.dispatcher.take(tenant, at, width, isList);
    if (seat) begin(seat);
    let leave = () => {};
    const onGone = (go: () => void) => {
      leave = go;
    };
    if (!seat) {
      this.dispatcher.wait(tenant, at, { flow, width, isList, patience, onGone }).then(begin, (error: Refused) => {
        this.refused.push({ name, reason: error.reason });
      });
    }
    return leave;
  }

  end(name: string): void {
    this.seats.get(name)?.release();
    this.seats.delete(name);
  }

  async turn(): Promise<void> {
    for (const go of this.#turns.splice(0)) go();
    await settled();
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }
}

/** One table for each list of levels: a tenant takes over a table that it does not know yet. */
const tables = new WeakMap<LevelSpec[], { levels: LevelSpec[] }>();
function tableOf(levels: LevelSpec[]) {
  const table = tables.get(levels) ?? { levels };
  tables.set(levels, table);
  return table;
}

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve();
}

const seatsOf = (all: number) => ({ all, limited: all });

let scene: Scene;
beforeEach(() => {
  scene = new Scene(4);
});

describe('while seats are free', () => {
  it('requests start at once, and no timer runs', () => {
    const tenant = new Tenant('a', seatsOf(4));
    for (const name of ['1', '2', '3', '4']) scene.ask(name, tenant, [EXEMPT], { level: 'exempt' });
    expect(scene.started).toEqual(['1', '2', '3', '4']);
    expect(scene.clock.pending).toBe(0);
  });

  it('a seat that is released counts until the next turn of the event loop', async () => {
    const tenant = new Tenant('a', seatsOf(8));
    for (let i = 0; i < 6; i++) {
      scene.ask(`${i}`, tenant, [EXEMPT], { level: 'exempt' });
      scene.end(`${i}`);
    }
    await settled();
    expect(scene.started).toHaveLength(4);
    await scene.turn();
    expect(scene.started).toHaveLength(6);
    expect(scene.clock.pending).toBe(0);
  });

  it('releasing twice frees one seat', async () => {
    const tenant = new Tenant('a', seatsOf(8));
    for (let i = 0; i < 4; i++) scene.ask(`${i}`, tenant, [EXEMPT], { level: 'exempt' });
    const seat = scene.seats.get('0');
    seat?.release();
    seat?.release();
    await scene.turn();
    for (let i = 4; i < 8; i++) scene.ask(`${i}`, tenant, [EXEMPT], { level: 'exempt' });
    expect(scene.started).toHaveLength(5);
  });
});

describe('when there are none', () => {
  it('a tenant with one request is next, however many others wait', async () => {
    const [noisy, quiet] = [new Tenant('noisy', seatsOf(4)), new Tenant('quiet', seatsOf(4))];
    for (let i = 0; i < 100; i++) scene.ask(`noisy-${i}`, noisy, [EXEMPT], { level: 'exempt' });
    scene.ask('quiet', quiet, [EXEMPT], { level: 'exempt' });
    scene.end('noisy-0');
    await scene.turn();
    expect(scene.started.at(-1)).toBe('quiet');
  });

  it('a user with one request is next in its level, after one request of each queue that the noisy user has', async () => {
    const levels = [level('users')];
    const tenant = new Tenant('a', seatsOf(4));
    for (let i = 0; i < 50; i++) scene.ask(`noisy-${i}`, tenant, levels, { flow: 'noisy' });
    scene.ask('quiet', tenant, levels, { flow: 'quiet' });
    for (let i = 0; i <= QUEUING.handSize; i++) {
      scene.end(`noisy-${i}`);
      await scene.turn();
    }
    expect(scene.started.slice(4)).toContain('quiet');
  });

  it('exempt requests go before all others of their tenant', async () => {
    const levels = [level('users'), EXEMPT];
    const tenant = new Tenant('a', { all: 4, limited: 4 });
    for (let i = 0; i < 10; i++) scene.ask(`user-${i}`, tenant, levels);
    scene.ask('admin', tenant, levels, { level: 'exempt' });
    scene.end('user-0');
    await scene.turn();
    expect(scene.started.at(-1)).toBe('admin');
  });

  it('a client that leaves is out of its queue at once', async () => {
    const tenant = new Tenant('a', seatsOf(4));
    for (let i = 0; i < 4; i++) scene.ask(`${i}`, tenant, [EXEMPT], { level: 'exempt' });
    const leave = scene.ask('gone', tenant, [EXEMPT], { level: 'exempt' });
    scene.ask('stays', tenant, [EXEMPT], { level: 'exempt' });
    leave();
    expect(tenant.waiting).toBe(1);
    scene.end('0');
    await scene.turn();
    expect(scene.started.at(-1)).toBe('stays');
    expect(scene.refused).toEqual([{ name: 'gone', reason: 'cancelled' }]);
    expect(scene.clock.pending).toBe(0);
  });

  it('a wait ends with the patience of the request', async () => {
    const tenant = new Tenant('a', seatsOf(4));
    const levels = [level('users', { shares: 0 })];
    scene.ask('jailed', tenant, levels, { patience: 500 });
    await scene.pass(499);
    expect(scene.refused).toEqual([]);
    await scene.pass(1);
    expect(scene.refused).toEqual([{ name: 'jailed', reason: 'time-out' }]);
    expect([tenant.waiting, scene.clock.pending]).toEqual([0, 0]);
  });

  it('a seat held for long goes to others, and is not freed a second time', async () => {
    const [slow, quick] = [new Tenant('slow', seatsOf(4)), new Tenant('quick', seatsOf(4))];
    for (let i = 0; i < 4; i++) scene.ask(`slow-${i}`, slow, [EXEMPT], { level: 'exempt' });
    scene.ask('quick', quick, [EXEMPT], { level: 'exempt', patience: 10_000 });
    for (let i = 0; i < 24; i++) await scene.pass(10);
    expect(scene.started).not.toContain('quick');
    await scene.pass(10);
    expect(scene.started).toContain('quick');
    for (let i = 0; i < 4; i++) scene.end(`slow-${i}`);
    await scene.turn();
    for (let i = 0; i < 9; i++) scene.ask(`more-${i}`, quick, [EXEMPT], { level: 'exempt' });
    expect(scene.started.filter((name) => name.startsWith('more'))).toHaveLength(3);
    expect(slow).toMatchObject({ running: 0, underWay: 0 });
  });

  it('one long turn of the event loop does not count as many ticks', async () => {
    const [busy, next] = [new Tenant('busy', seatsOf(4)), new Tenant('next', seatsOf(4))];
    for (let i = 0; i < 4; i++) scene.ask(`busy-${i}`, busy, [EXEMPT], { level: 'exempt' });
    scene.ask('next', next, [EXEMPT], { level: 'exempt', patience: 10_000 });
    await scene.pass(1000);
    expect(scene.started).not.toContain('next');
  });

  it('a list keeps its seats in its own tenant, however long it takes', async () => {
    const tenant = new Tenant('a', seatsOf(4));
    const levels = [level('users')];
    for (let i = 0; i < 4; i++) scene.ask(`list-${i}`, tenant, levels, { isList: true });
    scene.ask('next', tenant, levels, { patience: 10_000 });
    for (let i = 0; i < 50; i++) await scene.pass(10);
    expect(scene.started).not.toContain('next');
  });
});

describe('while a client is slow to read', () => {
  it('its seat is for others, and counts again when it reads on', async () => {
    const tenant = new Tenant('a', seatsOf(8));
    const ask = (name: string) => scene.ask(name, tenant, [EXEMPT], { level: 'exempt' });
    for (const name of ['slow', '1', '2', '3', '4', '5']) ask(name);
    const slow = scene.seats.get('slow');
    slow?.pause();
    await scene.turn();
    expect(scene.started).toEqual(['slow', '1', '2', '3', '4']);
    slow?.resume();
    scene.end('1');
    await scene.turn();
    expect(scene.started).not.toContain('5');
    scene.end('2');
    await scene.turn();
    expect(scene.started).toContain('5');
    slow?.pause();
    for (const name of ['slow', '3', '4', '5']) scene.end(name);
    slow?.resume();
    await scene.turn();
    expect(tenant).toMatchObject({ running: 0, underWay: 0, waiting: 0 });
  });
});

describe('refusals', () => {
  it('come at once where a level has no queues', async () => {
    const tenant = new Tenant('a', seatsOf(2));
    const levels = [level('users', { queuing: undefined })];
    for (let i = 0; i < 3; i++) scene.ask(`${i}`, tenant, levels);
    await settled();
    expect(scene.refused).toEqual([{ name: '2', reason: 'concurrency-limit' }]);
  });

  it('do not hit a level without queues because another tenant fills the server', async () => {
    const noisy = new Tenant('noisy', seatsOf(4));
    for (let i = 0; i < 4; i++) scene.ask(`noisy-${i}`, noisy, [EXEMPT], { level: 'exempt' });
    scene.ask('quiet', new Tenant('quiet', seatsOf(4)), [level('users', { queuing: undefined })]);
    await settled();
    expect(scene.refused).toEqual([]);
    scene.end('noisy-0');
    await scene.turn();
    expect(scene.started.at(-1)).toBe('quiet');
  });

  it('come when the queues of a flow are full', async () => {
    const tenant = new Tenant('a', seatsOf(1));
    const levels = [level('users', { queuing: { queues: 8, handSize: 2, queueLengthLimit: 3 } })];
    for (let i = 0; i < 8; i++) scene.ask(`${i}`, tenant, levels, { flow: 'one' });
    await settled();
    expect(scene.refused).toEqual([{ name: '7', reason: 'queue-full' }]);
  });

  it('are spread over turns, so that they do not fill one', async () => {
    const tenant = new Tenant('a', seatsOf(1));
    const levels = [level('users', { queuing: undefined })];
    for (let i = 0; i < 101; i++) scene.ask(`${i}`, tenant, levels);
    await settled();
    expect(scene.refused).toHaveLength(8);
    await scene.turn();
    expect(scene.refused).toHaveLength(16);
    for (let i = 0; i < 11; i++) await scene.turn();
    expect(scene.refused).toHaveLength(100);
  });

  it('keep the memory of one tenant bounded, exempt or not', async () => {
    const tenant = new Tenant('a', seatsOf(1));
    for (let i = 0; i < 1500; i++) scene.ask(`${i}`, tenant, [EXEMPT], { level: 'exempt' });
    expect(tenant.waiting).toBe(1000);
  });
});

describe('levels', () => {
  it('share the seats of their tenant as their shares say', async () => {
    const levels = [level('small', { shares: 10 }), level('large', { shares: 30 })];
    const tenant = new Tenant('a', seatsOf(40));
    scene = new Scene(100);
    for (let i = 0; i < 60; i++)
      for (const { name } of levels) scene.ask(`${name}-${i}`, tenant, levels, { level: name });
    const running = (name: string) => scene.started.filter((one) => one.startsWith(name)).length;
    expect([running('small'), running('large')]).toEqual([10, 30]);
  });

  it('lend what they do not use, and get it back', async () => {
    const levels = [level('borrower'), level('lender', { lendablePercent: 50 })];
    const tenant = new Tenant('a', seatsOf(20));
    scene = new Scene(100);
    for (let i = 0; i < 30; i++) scene.ask(`borrower-${i}`, tenant, levels);
    expect(scene.started).toHaveLength(15);
    for (let i = 0; i < 7; i++) scene.ask(`lender-${i}`, tenant, levels, { level: 'lender' });
    // Half was not lent, and is there at once.
    expect(scene.started.slice(15)).toHaveLength(5);
    for (let i = 0; i < 2; i++) scene.end(`borrower-${i}`);
    await scene.turn();
    expect(scene.started.slice(20)).toEqual(['lender-5', 'lender-6']);
  });

  it('borrow no more than they may', () => {
    const levels = [level('borrower', { borrowingLimitPercent: 20 }), level('lender', { lendablePercent: 100 })];
    const tenant = new Tenant('a', seatsOf(20));
    scene = new Scene(100);
    for (let i = 0; i < 30; i++) scene.ask(`borrower-${i}`, tenant, levels);
    expect(scene.started).toHaveLength(12);
  });

  it('may change while requests run and wait in them', async () => {
    const tenant = new Tenant('a', seatsOf(4));
    const before = [level('users')];
    for (let i = 0; i < 6; i++) scene.ask(`${i}`, tenant, before);
    // The level is gone; what waits in it still gets its seat.
    const after = [level('others')];
    scene.ask('other', tenant, after);
    for (let i = 0; i < 4; i++) scene.end(`${i}`);
    await scene.turn();
    expect([...scene.started].sort()).toEqual(['0', '1', '2', '3', '4', '5', 'other']);
    for (const name of ['4', '5', 'other']) scene.end(name);
    await scene.turn();
    expect(tenant).toMatchObject({ running: 0, waiting: 0, underWay: 0 });
  });
});

describe('whatever comes', () => {
  const LEVELS = [
    EXEMPT,
    level('high', { shares: 30, lendablePercent: 50 }),
    level('low', { shares: 10, lendablePercent: 90, borrowingLimitPercent: 100 }),
    level('none', { shares: 5, queuing: undefined }),
  ];

  for (const seed of Array.from({ length: 20 }, (_, n) => n + 1)) {
    it(`no seat stays empty while a request could run, none is lost, limits hold (seed ${seed})`, async () => {
      const chance = seeded(seed);
      const seats = 4 + Math.floor(chance() * 20);
      scene = new Scene(seats);
      const tenants = ['a', 'b', 'c'].map((name) => new Tenant(name, { all: seats - 1, limited: seats - 2 }));
      const asked = await scramble(chance, scene, tenants);
      // Everything ends.
      for (let i = 0; i < 2000 && scene.started.length + scene.refused.length < asked; i++) {
        for (const name of scene.seats.keys()) scene.end(name);
        await scene.turn();
      }
      expect(scene.started.length + scene.refused.length).toBe(asked);
      expect(new Set([...scene.started, ...scene.refused.map(({ name }) => name)]).size).toBe(asked);
      for (const name of scene.seats.keys()) scene.end(name);
      await scene.turn();
      for (const tenant of tenants) expect(tenant).toMatchObject({ running: 0, waiting: 0, underWay: 0 });
      expect(scene.clock.pending).toBe(0);
    });
  }

  async function scramble(chance: Chance, scene: Scene, tenants: Tenant[]): Promise<number> {
    let asked = 0;
    const leaves: (() => void)[] = [];
    for (let step = 0; step < 300; step++) {
      const what = chance();
      if (what < 0.6) {
        const tenant = chance.pick(tenants);
        const width = chance() < 0.2 ? 1 + Math.floor(chance() * 5) : 1;
        const options = { level: chance.pick(LEVELS).name, width, flow: chance.pick(['u', 'v', 'w']), patience: 1e6 };
        leaves.push(scene.ask(`${tenant.name}-${asked++}`, tenant, LEVELS, options));
      } else if (what < 0.9) {
        const running = [...scene.seats.keys()];
        if (running.length > 0) scene.end(chance.pick(running));
      } else if (what < 0.95) chance.pick([() => {}, ...leaves])();
      await scene.turn();
      const taken = [...scene.seats.values()].reduce((sum, seat) => sum + seat.holder.width, 0);
      for (const tenant of tenants) {
        // One wide request may exceed a limit: it starts when one seat is free.
        for (const { spec, limits, running } of tenant.levels) {
          if (!spec.isExempt) expect(running).toBeLessThan(limits.most + 5);
        }
        if (taken < scene.seatCount) expect(tenant.nextLevel()?.spec.name).toBeUndefined();
      }
    }
    return asked;
  }

  it('tenants that always have work get the same, whatever the size of their requests', async () => {
    const chance = seeded(7);
    scene = new Scene(8);
    const tenants = [1, 2, 5].map((width) => ({ width, tenant: new Tenant(`w${width}`, seatsOf(8)) }));
    const served = new Map<string, number>();
    let n = 0;
    const fill = () => {
      for (const { tenant, width } of tenants) {
        while (tenant.waiting < 20) scene.ask(`${tenant.name}-${n++}`, tenant, [EXEMPT], { level: 'exempt', width });
      }
    };
    for (let step = 0; step < 2000; step++) {
      fill();
      const running = [...scene.seats];
      const [name, seat] = chance.pick(running) as [string, Seat];
      served.set(seat.holder.tenant.name, (served.get(seat.holder.tenant.name) ?? 0) + seat.holder.width);
      scene.end(name);
      await scene.turn();
    }
    const shares = [...served.values()];
    expect(Math.max(...shares) / Math.min(...shares)).toBeLessThan(1.2);
  });

  it('a request of a quiet user starts after a bounded number of others, whatever the noisy ones do', async () => {
    const levels = [level('users', { queuing: { queues: 128, handSize: 6, queueLengthLimit: 50 } })];
    const tenant = new Tenant('a', seatsOf(4));
    let n = 0;
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < 20; i++) for (const flow of ['x', 'y']) scene.ask(`${flow}-${n++}`, tenant, levels, { flow });
      const before = scene.started.length;
      scene.ask(`quiet-${round}`, tenant, levels, { flow: 'quiet' });
      for (let i = 0; i < 16 && !scene.started.includes(`quiet-${round}`); i++) {
        scene.end([...scene.seats.keys()][0] as string);
        await scene.turn();
      }
      // A hand of six queues for each noisy user: at most as many go first.
      expect(scene.started.indexOf(`quiet-${round}`) - before).toBeLessThanOrEqual(13);
      expect(scene.started).toContain(`quiet-${round}`);
    }
  });

  it('what a request turned out to cost is paid by the next ones of its tenant', async () => {
    scene = new Scene(1);
    const [large, small] = [new Tenant('large', seatsOf(8)), new Tenant('small', seatsOf(8))];
    for (let i = 0; i < 10; i++) {
      scene.ask(`large-${i}`, large, [EXEMPT], { level: 'exempt' });
      scene.ask(`small-${i}`, small, [EXEMPT], { level: 'exempt' });
    }
    for (let i = 0; i < 8; i++) {
      const [name, seat] = [...scene.seats][0] as [string, Seat];
      seat.release(name.startsWith('large') ? 3 : 0);
      scene.seats.delete(name);
      await scene.turn();
    }
    const names = scene.started.map((name) => name.split('-')[0]);
    expect(names.filter((name) => name === 'small').length).toBeGreaterThan(
      2 * names.filter((name) => name === 'large').length,
    );
  });
});

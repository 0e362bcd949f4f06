/** The store against the simplest thing that could be right: a list of changes, replayed. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { systemClock } from '../../clock.ts';
import { openStore } from './sqlite-store.ts';
import { CompactedError, type Key, type Store, type WatchRequest } from './store.ts';

type Row = { rv: number; key: Key; n: number | undefined; type: string; before: number | undefined };
/** In memory where there is such a place: this is about logic, and most of the time would go to waiting for the disk. */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const RESOURCES = ['/pods', 'apps/deployments', '/namespaces'];
const id = (key: Key) => `${key.resource} ${key.namespace} ${key.name}`;
const object = (key: Key, n: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: key.name },
  spec: { n },
});

class Model {
  rows: Row[] = [];
  compactedRv = 0;
  get rv(): number {
    return this.rows.at(-1)?.rv ?? 0;
  }
  state(at: number): Map<string, Row> {
    const state = new Map<string, Row>();
    for (const row of this.rows) {
      if (row.rv > at) break;
      if (row.n === undefined) state.delete(id(row.key));
      else state.set(id(row.key), row);
    }
    return state;
  }
  change(key: Key, n: number | undefined): void {
    const old = this.state(this.rv).get(id(key));
    if (old?.n === n) return;
    const type = n === undefined ? 'DELETED' : old ? 'MODIFIED' : 'ADDED';
    this.rows.push({ rv: this.rv + 1, key, n, type, before: old?.n });
  }
  list(at: number, resource: string, namespace?: string): string[] {
    return [...this.state(at).values()]
      .filter((row) => row.key.resource === resource && (!namespace || row.key.namespace === namespace))
      .sort((a, b) => (id(a.key) < id(b.key) ? -1 : 1))
      .map((row) => `${row.key.namespace}/${row.key.name}@${row.rv}=${row.n}`);
  }
  events({ afterRv, resource, namespace, name }: WatchRequest): string[] {
    return this.rows
      .filter((row) => row.rv > afterRv)
      .filter((row) => !resource || row.key.resource === resource)
      .filter((row) => !namespace || row.key.namespace === namespace)
      .filter((row) => !name || row.key.name === name)
      .map((row) => `${row.type} ${id(row.key)}@${row.rv}=${row.n ?? row.before} was ${row.before}`);
  }
}

interface Watch {
  request: WatchRequest;
  seen: string[];
}
interface Real {
  file: string;
  store: Store;
  watches: Watch[];
}

const keys: fc.Arbitrary<Key> = fc.record({
  resource: fc.constantFrom(...RESOURCES),
  namespace: fc.constantFrom('', 'a', 'b', 'a-b'),
  name: fc.constantFrom('x', 'y', 'z', 'x.y'),
});
const change = fc.record({ key: keys, n: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }) });
const apply = (tx: Parameters<Parameters<Store['write']>[0]>[0], c: { key: Key; n: number | undefined }) =>
  c.n === undefined ? tx.delete(c.key) : tx.put(c.key, object(c.key, c.n));

/** Several functions in one batch, some of which throw after doing their part. */
class Write implements fc.AsyncCommand<Model, Real> {
  readonly jobs: { changes: { key: Key; n: number | undefined }[]; fails: boolean }[];
  constructor(jobs: Write['jobs']) {
    this.jobs = jobs;
  }
  check = () => true;
  async run(model: Model, { store }: Real): Promise<void> {
    const results = await Promise.allSettled(
      this.jobs.map((job) =>
        store.write((tx) => {
          for (const c of job.changes) apply(tx, c);
          if (job.fails) throw new Error('on purpose');
        }),
      ),
    );
    expect(results.map((result) => result.status === 'rejected')).toEqual(this.jobs.map((job) => job.fails));
    for (const job of this.jobs) if (!job.fails) for (const c of job.changes) model.change(c.key, c.n);
    expect(store.rv).toBe(model.rv);
  }
  toString = () => `write(${JSON.stringify(this.jobs)})`;
}

class List implements fc.AsyncCommand<Model, Real> {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly back: number;
  readonly limit: number;
  constructor(resource: string, namespace: string | undefined, back: number, limit: number) {
    this.resource = resource;
    this.namespace = namespace;
    this.back = back;
    this.limit = limit;
  }
  check = () => true;
  async run(model: Model, { store }: Real): Promise<void> {
    const { resource, namespace, limit } = this;
    const atRv = Math.max(0, model.rv - this.back);
    const walk = (): string[] => {
      const found: string[] = [];
      let after: { namespace: string; name: string } | undefined;
      for (;;) {
        const page = store.list({ resource, namespace, limit, after, atRv });
        expect(page.rv).toBe(atRv);
        for (const item of page.items) {
          const { metadata, spec } = item.object();
          expect(metadata.resourceVersion).toBe(String(item.rv));
          found.push(`${item.key.namespace}/${item.key.name}@${item.rv}=${spec.n}`);
        }
        if (!page.more) return found;
        after = page.items.at(-1)?.key;
      }
    };
    if (atRv < model.compactedRv) expect(walk).toThrow(CompactedError);
    else expect(walk()).toEqual(model.list(atRv, resource, namespace));
    expect(store.count(resource, namespace)).toBe(model.list(model.rv, resource, namespace).length);
  }
  toString = () => `list(${this.resource}, ${this.namespace}, rv - ${this.back}, limit ${this.limit})`;
}

class StartWatch implements fc.AsyncCommand<Model, Real> {
  readonly filter: Omit<WatchRequest, 'afterRv'>;
  readonly back: number;
  constructor(filter: Omit<WatchRequest, 'afterRv'>, back: number) {
    this.filter = filter;
    this.back = back;
  }
  check = () => true;
  async run(model: Model, { store, watches }: Real): Promise<void> {
    const request = { ...this.filter, afterRv: Math.max(0, model.rv - this.back) };
    const seen: string[] = [];
    const start = () =>
      store.watch(request, ({ type, current, previous, rv }) => {
        expect([current.rv, current.object().metadata.resourceVersion]).toEqual([rv, String(rv)]);
        seen.push(`${type} ${id(current.key)}@${rv}=${current.object().spec.n} was ${previous?.object().spec.n}`);
      });
    if (request.afterRv < model.compactedRv) {
      expect(start).toThrow(CompactedError);
    } else {
      start();
      watches.push({ request, seen });
    }
  }
  toString = () => `watch(${JSON.stringify(this.filter)}, rv - ${this.back})`;
}

class Compact implements fc.AsyncCommand<Model, Real> {
  readonly back: number;
  constructor(back: number) {
    this.back = back;
  }
  check = () => true;
  async run(model: Model, { store }: Real): Promise<void> {
    const rv = Math.max(0, model.rv - this.back);
    await store.compact(rv);
    model.compactedRv = Math.max(model.compactedRv, rv);
    expect(store.compactedRv).toBe(model.compactedRv);
  }
  toString = () => `compact(rv - ${this.back})`;
}

/** Closing ends the watches: by then each must have seen everything. */
class Reopen implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    await settle(real);
    checkWatches(model, real);
    await real.store.close();
    real.watches = [];
    real.store = openStore(real.file, { clock: systemClock, retention: false });
    expect([real.store.rv, real.store.compactedRv]).toEqual([model.rv, model.compactedRv]);
  }
  toString = () => 'reopen';
}

const settle = async ({ store }: Real) => {
  for (let i = 0; i < 3; i++) await store.write(() => {});
};
const checkWatches = (model: Model, { watches }: Real) => {
  for (const { request, seen } of watches) expect(seen).toEqual(model.events(request));
};

it('does what a list of changes does', { timeout: 120_000 }, async () => {
  const filter = fc.record(
    {
      resource: fc.constantFrom(...RESOURCES),
      namespace: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('x', 'y'),
    },
    { requiredKeys: [] },
  );
  const job = fc.record({ changes: fc.array(change, { maxLength: 4 }), fails: fc.boolean() });
  const commands = fc.commands(
    [
      fc.array(job, { minLength: 1, maxLength: 5 }).map((jobs) => new Write(jobs)),
      fc.array(job, { minLength: 1, maxLength: 5 }).map((jobs) => new Write(jobs)),
      fc
        .tuple(
          fc.constantFrom(...RESOURCES),
          fc.constantFrom(undefined, 'a', 'b'),
          fc.nat(12),
          fc.integer({ min: 1, max: 5 }),
        )
        .map((args) => new List(...args)),
      fc.tuple(filter, fc.nat(12)).map((args) => new StartWatch(...args)),
      fc.nat(12).map((back) => new Compact(back)),
      fc.constant(new Reopen()),
    ],
    { size: 'medium' },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (list) => {
      const dir = mkdtempSync(join(FOLDER, 'model-'));
      const file = join(dir, 's.db');
      const real: Real = { file, store: openStore(file, { clock: systemClock, retention: false }), watches: [] };
      const model = new Model();
      try {
        await fc.asyncModelRun(() => ({ model, real }), list);
        await settle(real);
        checkWatches(model, real);
      } finally {
        await real.store.close();
        rmSync(dir, { recursive: true });
      }
    }),
    { numRuns: 150 },
  );
});

// Our Cluster API core dies after a few writes, again and again: the story of test/conformance/cluster-api ends the same.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OurCore, startOurCore } from '../conformance/cluster-api/our-core.ts';
import { Scenario } from '../conformance/cluster-api/scenario.ts';

const stop = new AbortController();
let core: OurCore;
let scenario: Scenario;
let providers: Promise<void>;

beforeAll(async () => {
  let life = 0;
  // Short lives and long ones: to make one machine with its parts takes seven writes in one go.
  const lives = [1, 2, 3, 5, 8, 13, 21, 34];
  core = await startOurCore({ writesToLive: () => lives[life++ % lives.length] as number });
  scenario = new Scenario({
    management: core.store,
    workload: core.workload,
    namespace: 'default',
    patienceMs: 100_000,
  });
  providers = scenario.providers.run(stop.signal);
});
afterAll(async () => {
  stop.abort();
  await providers;
  await core.stop();
  expect(core.errors).toEqual([]);
});

it('comes up, rolls out and goes all the same, and leaves nothing', async () => {
  await scenario.create();
  await scenario.rollOut();
  await scenario.delete();
  expect(core.lives()).toBeGreaterThan(10);
  expect(scenario.story['left behind']).toEqual([]);
  expect(scenario.story['order of deletion']).toMatchObject({
    workers: 2,
    'workers before control plane': true,
    last: 'FooCluster',
  });
}, 300_000);

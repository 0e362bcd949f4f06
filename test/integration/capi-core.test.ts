// Our Cluster API core on the embedded server, with providers it has never heard of and a virtual cluster as workload
// cluster: lives the story that upstream's core lives on a real kube-apiserver, and has to say the same of every object
// (test/e2e/capi-core.e2e.ts records it; where we differ on purpose is in docs/cluster-api.md and below).
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOOPBACK } from '../../src/apiserver/index.ts';
import { clusterApiAdmission } from '../../src/controllers/core/admission/plugin.ts';
import { coreControllers } from '../../src/controllers/core/index.ts';
import { InProcessStore } from '../../src/embedded/in-process-store.ts';
import { installCrds } from '../../src/embedded/install-crds.ts';
import { Manager } from '../../src/kube/index.ts';
import { trustingPolicy } from '../../src/provisioners/testing/trusting-policy.ts';
import { simulation } from '../../src/provisioners/virtual/simulation/index.ts';
import { installFooKinds, Scenario, type Story } from '../conformance/cluster-api/scenario.ts';
import { virtualWorkload } from '../conformance/cluster-api/workload.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const UPSTREAM = new URL('../conformance/cluster-api/upstream.json', import.meta.url);
const stop = new AbortController();
let server: TestServer;
let scenario: Scenario;
let running: Promise<unknown>;

beforeAll(async () => {
  server = await startServer({ loops: [simulation], admission: [clusterApiAdmission] });
  await installCrds(server.root);
  const store = new InProcessStore({ cluster: async () => server.root, identity: LOOPBACK });
  await installFooKinds(store);
  const workload = await virtualWorkload(server);
  scenario = new Scenario({ management: store, workload, namespace: 'default', patienceMs: 60_000 });
  const manager = new Manager({ store });
  coreControllers(manager, { store, host: trustingPolicy });
  running = Promise.all([manager.run(stop.signal), scenario.providers.run(stop.signal)]);
});

afterAll(async () => {
  stop.abort();
  await running;
  const { errors } = server;
  await server.close();
  expect(errors).toEqual([]);
});

it('brings a cluster with two workers up', () => scenario.create());
it('carries labels to machines and nodes, and takes them away again', () => scenario.relabel());
it('rolls a new version out', () => scenario.rollOut());
it('deletes a machine by the book: hooks, drain with a budget, node', () => scenario.drain());
it('replaces a machine whose node fails', () => scenario.remediate());
it('leaves a paused cluster alone', () => scenario.pause());
it('deletes workers, control plane and infrastructure in that order', () => scenario.delete());

it('says of every object what upstream’s core says', () => {
  const upstream = JSON.parse(readFileSync(UPSTREAM, 'utf8')) as Story;
  expect(withoutOurOwn(scenario.story)).toEqual(upstream);
});

/** Taints of machines reach nodes with us; upstream has that behind a feature gate that is off. */
function withoutOurOwn(story: Story): Story {
  const node = structuredClone(story['created: Node']) as { annotations: Record<string, string> };
  delete node.annotations['cluster.x-k8s.io/taints-from-machine'];
  return { ...story, 'created: Node': node };
}

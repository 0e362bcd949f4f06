// The unmodified upstream core on a real kube-apiserver lives the story of test/conformance/cluster-api, with a virtual
// cluster of ours as workload cluster. What it says of every object is what our core has to say: the record that
// test/integration/capi-core.test.ts compares with. RECORD=1 writes it anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { coreControllers } from '../../src/controllers/core/index.ts';
import { interceptStore, loadKubeconfig, Manager, RemoteStore } from '../../src/kube/index.ts';
import { trustingPolicy } from '../../src/provisioners/testing/trusting-policy.ts';
import { simulation } from '../../src/provisioners/virtual/simulation/index.ts';
import { acquire, type Lease } from '../bed/services/service.ts';
import { installFooKinds, Scenario } from '../conformance/cluster-api/scenario.ts';
import { virtualWorkload } from '../conformance/cluster-api/workload.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const RECORD = new URL('../conformance/cluster-api/upstream.json', import.meta.url);

describe('upstream’s core and a provider it does not know', () => {
  const stop = new AbortController();
  let bed: Lease;
  let server: TestServer;
  let management: RemoteStore;
  let scenario: Scenario;
  let running: Promise<unknown>;
  /** What our own core did meanwhile: it has to see that upstream's is there. */
  const written: string[] = [];

  beforeAll(async () => {
    bed = await acquire('cluster-api');
    management = new RemoteStore({ connection: await loadKubeconfig({ file: bed.env.KUBECONFIG as string }) });
    await installFooKinds(management);
    server = await startServer({ loops: [simulation] });
    const workload = await virtualWorkload(server);
    scenario = new Scenario({ management, workload, namespace: 'default', patienceMs: 240_000 });
    const watched = interceptStore(management, {
      before: ({ isWrite, verb, resource }) => {
        if (isWrite) written.push(`${verb} ${resource.plural}`);
      },
    });
    const ours = new Manager({ store: watched });
    coreControllers(ours, { store: watched, host: trustingPolicy });
    running = Promise.all([scenario.providers.run(stop.signal), ours.run(stop.signal)]);
  });

  afterAll(async () => {
    stop.abort();
    await running?.catch(() => {});
    await management?.close();
    await server?.close();
    await bed?.release();
  });

  const limit = 300_000;
  test('two workers', () => scenario.create(), limit);
  test('labels come and go', () => scenario.relabel(), limit);
  test('a rollout', () => scenario.rollOut(), limit);
  test('hooks, drain, node', () => scenario.drain(), limit);
  test('remediation', () => scenario.remediate(), limit);
  test('pause', () => scenario.pause(), limit);
  test('deletion in order', () => scenario.delete(), limit);
  test('says what was recorded', () => {
    if (process.env.RECORD) writeFileSync(RECORD, `${JSON.stringify(scenario.story, null, 2)}\n`);
    expect(scenario.story).toEqual(JSON.parse(readFileSync(RECORD, 'utf8')));
  });
  test('our own core, started beside it, kept its hands off', () => {
    expect(written).toEqual([]);
  });
});

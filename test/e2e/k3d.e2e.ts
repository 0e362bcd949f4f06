import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dnsWorks, networkWorks, podRuns } from './support/checks.ts';
import { type Engine, engine } from './support/engine.ts';
import { type K3d, k3d } from './support/k3d.ts';
import { deployment } from './support/workload.ts';

const name = 'bed-pair';

describe('k3d', () => {
  let docker: Engine;
  let cluster: K3d;
  beforeAll(async () => {
    docker = await engine('k3s-image');
    await docker.clear(`k3d-${name}`);
    cluster = k3d(docker, name);
  });
  afterAll(async () => {
    await cluster?.remove();
    await docker?.release();
  });

  test('creates a server and an agent', async () => {
    await cluster.create('--agents', '1');
    await cluster.kubectl.untilReady(2);
    expect((await cluster.kubectl.nodes()).map((node) => node.metadata.name).sort()).toEqual([
      'k3d-bed-pair-agent-0',
      'k3d-bed-pair-server-0',
    ]);
  });

  test('a pod runs', () => podRuns(cluster.kubectl));
  test('pods reach each other across nodes', () =>
    networkWorks(cluster.kubectl, ['k3d-bed-pair-server-0', 'k3d-bed-pair-agent-0']));
  test('names are resolved', () => dnsWorks(cluster.kubectl));

  test('what was there before a stop is there after a start', async () => {
    // A Deployment and not a pod: k3d drains a server when it stops it.
    await cluster.kubectl.apply(deployment('survivor'));
    await cluster.kubectl.untilAvailable('survivor');
    await cluster.run('cluster', 'stop', name);
    expect((await cluster.kubectl.try(['get', 'nodes'])).code).not.toBe(0);
    await cluster.run('cluster', 'start', name, '--wait', '--timeout', '180s');
    await cluster.kubectl.untilReady(2);
    await cluster.kubectl.untilAvailable('survivor');
  });

  test('delete leaves nothing', async () => {
    await cluster.remove();
    expect(await docker.found(`k3d-${name}`)).toEqual([]);
  });
});

// A virtual cluster without nodes as workload cluster: its pods end when evicted and its budgets count, as in a real one.
import { readFileSync } from 'node:fs';
import { furnish } from '../../../src/provisioners/virtual/simulation/furnish.ts';
import type { TestServer } from '../../harness/server.ts';
import type { Workload } from './foo-providers.ts';

export async function virtualWorkload(server: TestServer, name = 'nest'): Promise<Workload> {
  await furnish(await server.clusters.ensure(name), { controlPlanes: 0, nodes: 0 });
  return {
    api: await server.remote(name),
    kubeconfig: readFileSync(await server.kubeconfig(name), 'utf8'),
    endpoint: { host: '127.0.0.1', port: Number(new URL(server.url).port) },
  };
}

// The same contract, twice: over HTTPS and without it, on one server of our own.
import { afterAll, beforeAll } from 'vitest';
import { LOOPBACK, ROOT } from '../../../src/apiserver/index.ts';
import { InProcessStore } from '../../../src/embedded/in-process-store.ts';
import { startServer, type TestServer } from '../../harness/server.ts';
import { objectStoreConformance } from './object-store.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Makes all history too old to resume from. */
const expire = async () => {
  await server.root.store.compact(server.root.store.rv);
  return '1';
};

objectStoreConformance('remote store on the embedded server', async () => ({ store: await server.remote(), expire }));
objectStoreConformance('in-process store on the embedded server', async () => ({
  store: new InProcessStore({
    cluster: async () => (await server.clusters.get(ROOT)) ?? server.root,
    identity: LOOPBACK,
  }),
  expire,
}));

import { LOOPBACK, ROOT } from '../../../src/apiserver/index.ts';
import { InProcessStore } from '../../../src/embedded/in-process-store.ts';
import { startServer } from '../../harness/server.ts';
import { controllerConformance } from './controllers.ts';

controllerConformance('remote store on the embedded server', async () => {
  const server = await startServer();
  return { store: await server.remote('demo'), close: () => server.close() };
});

controllerConformance('in-process store on the embedded server', async () => {
  const server = await startServer();
  const cluster = async () => (await server.clusters.get(ROOT)) ?? server.root;
  return { store: new InProcessStore({ cluster, identity: LOOPBACK }), close: () => server.close() };
});

import { loadKubeconfig } from '../../../src/kube/index.ts';
import { startServer } from '../../harness/server.ts';
import { informerConformance } from './informer.ts';

informerConformance('embedded server', async () => {
  const server = await startServer();
  const connection = await loadKubeconfig({ file: await server.kubeconfig('demo') });
  return { connection, close: () => server.close() };
});

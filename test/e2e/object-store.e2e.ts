/** The object store, informers and what controllers write with, against a real kube-apiserver. */
import { loadKubeconfig, RemoteStore } from '../../src/kube/index.ts';
import { acquire } from '../bed/services/service.ts';
import { controllerConformance } from '../conformance/object-store/controllers.ts';
import { informerConformance } from '../conformance/object-store/informer.ts';
import { objectStoreConformance } from '../conformance/object-store/object-store.ts';

async function makeStore() {
  const api = await acquire('kube-apiserver');
  const store = new RemoteStore({ connection: await loadKubeconfig({ file: api.env.KUBECONFIG as string }) });
  return {
    store,
    // The watch cache of a custom resource begins when its definition was made: whatever was before is too old.
    expire: async () => '1',
    close: async () => {
      await store.close();
      await api.release();
    },
  };
}

objectStoreConformance('remote, kube-apiserver', makeStore);
controllerConformance('remote, kube-apiserver', makeStore);

informerConformance('kube-apiserver', async () => {
  const api = await acquire('kube-apiserver');
  return { connection: await loadKubeconfig({ file: api.env.KUBECONFIG as string }), close: () => api.release() };
});

/** The remote object store and the informer against a real kube-apiserver. */
import { loadKubeconfig, RemoteStore } from '../../src/kube/index.ts';
import { acquire } from '../bed/services/service.ts';
import { informerConformance } from '../conformance/object-store/informer.ts';
import { objectStoreConformance } from '../conformance/object-store/object-store.ts';

objectStoreConformance('remote, kube-apiserver', async () => {
  const api = await acquire('kube-apiserver');
  const store = new RemoteStore({ connection: await loadKubeconfig({ file: api.env.KUBECONFIG }) });
  return {
    store,
    // The watch cache of a custom resource begins when its definition was made: whatever was before is too old.
    expire: async () => '1',
    close: async () => {
      await store.close();
      await api.release();
    },
  };
});

informerConformance('kube-apiserver', async () => {
  const api = await acquire('kube-apiserver');
  return { connection: await loadKubeconfig({ file: api.env.KUBECONFIG }), close: () => api.release() };
});

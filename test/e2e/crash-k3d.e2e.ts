// Rookery killed again and again while it makes and deletes k3d clusters.
import { k3sVersion } from '../bed/versions.ts';
import { crashLoop } from './support/crash-loop.ts';
import { k3dEngine, quiet } from './support/k3d-provisioner.ts';

crashLoop('k3d', async () => {
  const prefix = `x${process.pid % 10_000}-`;
  const docker = await k3dEngine(prefix);
  return {
    prefix,
    env: docker.env,
    object: (name) => ({
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'K3dCluster',
      metadata: { name, namespace: 'default' },
      spec: { clusterName: name, kubernetesVersion: k3sVersion, k3sArgs: quiet },
    }),
    hasBegun: async (name) => (await docker.leftOf(name)).length > 0,
    leftovers: () => docker.leftOf(prefix),
    close: async () => {
      await docker.clear(`k3d-${prefix}`);
      await docker.release();
    },
  };
});

// Rookery killed again and again while it makes and deletes kind clusters.
import { kubernetesVersion } from '../bed/versions.ts';
import { crashLoop } from './support/crash-loop.ts';
import { engine } from './support/engine.ts';
import { hasKindNetwork, kindLeftovers } from './support/kind-leftovers.ts';

crashLoop('kind', async () => {
  const prefix = `x${process.pid}-`;
  const docker = await engine('node-image');
  await docker.clear(prefix);
  const isShared = await hasKindNetwork(docker);
  return {
    prefix,
    env: docker.env,
    object: (name) => ({
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'KINDCluster',
      metadata: { name, namespace: 'default' },
      spec: { clusterName: name, kubernetesVersion },
    }),
    hasBegun: async (name) => (await docker.found(name)).length > 0,
    leftovers: () => kindLeftovers(docker, prefix, isShared),
    close: async () => {
      await docker.clear(prefix);
      await docker.release();
    },
  };
});

// Rookery killed again and again while it makes and deletes k3s clusters over SSH.
import { rmSync } from 'node:fs';
import { scratch } from '../bed/cache.ts';
import { crashLoop } from './support/crash-loop.ts';
import { engine } from './support/engine.ts';
import { containerSpec, imagesPath, k3sMachine, sshKey } from './support/k3s-machine.ts';
import { Traces } from './support/machine-traces.ts';

const prefix = `rk3s${process.pid}-`;

crashLoop('k3s over SSH', async () => {
  const name = `${prefix}crash`;
  const docker = await engine('k3s-image');
  await docker.clear(name);
  const folder = scratch('provisioner-k3s-crash');
  const key = await sshKey(folder);
  const machine = await k3sMachine(docker, name, { init: 'systemd', publicKey: key.publicKey });
  const traces = await Traces.of(machine);
  const ssh = { address: machine.address, keySecretRef: { name: 'crash-key' } };
  return {
    prefix: 'crash-',
    env: docker.env,
    prepare: (kubectl) =>
      kubectl.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/ssh-auth',
        metadata: { name: 'crash-key', namespace: 'default' },
        stringData: { 'ssh-privatekey': key.privateKey },
      }),
    object: (name) => ({
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'K3sCluster',
      metadata: { name, namespace: 'default' },
      // On the machine already: what a copy over SSH takes is in the suite above.
      spec: { host: { ssh }, binary: '/usr/bin/k3s', airgapImages: [imagesPath], ...containerSpec },
    }),
    hasBegun: async () =>
      (await docker.try('docker', 'exec', name, 'test', '-e', '/var/lib/rookery/k3s/owner.json')).code === 0,
    leftovers: () => traces.left(),
    close: async () => {
      await docker.clear(name);
      await docker.release();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});

// kind on scripts in place of kind and Docker: the same suite as on the bed, with many more moments to be killed in.
import { FakeWorld } from '../../../src/provisioners/kind/testing/fake-world.ts';
import { provisionerConformance } from './provisioner.ts';

provisionerConformance('kind, scripted', async () => {
  const world = new FakeWorld();
  return {
    prefix: 'conf-',
    open: () => world.provisioner(),
    // Several control planes are not suspended, so the one that is has one.
    spec: (clusterName) => ({ clusterName, controlPlaneNodes: clusterName.endsWith('one') ? 1 : 3, workerNodes: 1 }),
    killTools: async () => world.killTools(),
    foreign: async (name) => {
      const config = `${world.folder}/foreign.json`;
      const { writeFileSync } = await import('node:fs');
      writeFileSync(config, '"role": "control-plane"');
      world.run(
        'kind',
        'create',
        'cluster',
        '--name',
        name,
        '--config',
        config,
        '--kubeconfig',
        `${config}.kubeconfig`,
      );
      return async () => {
        for (const container of world.containers()) world.drop(container);
        world.run('docker', 'network', 'rm', 'kind');
      };
    },
    leftovers: async () => world.leftovers(),
    cutOff: async () => {
      world.set('down', '');
      return { provisioner: world.provisioner(), end: async () => world.set('down', undefined) };
    },
    close: async () => world.close(),
    patienceMs: 60_000,
    callMs: 10_000,
    killPoints: [0, 15, 30, 50, 80, 120, 160, 200, 260, 320],
  };
});

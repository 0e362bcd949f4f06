// k3d on scripts in place of k3d and Docker: the same suite as on the bed, with many more moments to be killed in.
import { writeFileSync } from 'node:fs';
import { FakeWorld } from '../../../src/provisioners/k3d/testing/fake-world.ts';
import { provisionerConformance } from './provisioner.ts';

provisionerConformance('k3d, scripted', async () => {
  const world = new FakeWorld();
  return {
    prefix: 'conf-',
    open: () => world.provisioner(),
    spec: (clusterName) => ({ clusterName, servers: 3, agents: 1 }),
    killTools: async () => world.killTools(),
    foreign: async (name) => {
      const config = `${world.folder}/foreign.yaml`;
      writeFileSync(config, `{ "name": "${name}", "servers": 1, "agents": 0, "disableLoadbalancer": true }`);
      world.run('k3d', 'cluster', 'create', '--config', config);
      return async () => {
        for (const container of world.containers()) world.drop(container);
        world.run('docker', 'network', 'rm', `k3d-${name}`);
        world.run('docker', 'volume', 'rm', `k3d-${name}-images`);
      };
    },
    leftovers: async () => world.leftovers(),
    scaled: (spec, more) => ({ ...spec, agents: (spec.agents ?? 0) + more }),
    cutOff: async () => {
      world.set('down', '');
      return { provisioner: world.provisioner(), end: async () => world.set('down', undefined) };
    },
    close: async () => world.close(),
    patienceMs: 60_000,
    callMs: 10_000,
    killPoints: [0, 20, 50, 90, 140, 190, 250, 310, 380, 450],
  };
});

// k3s on a machine that is a folder: the real programs that run on hosts, with a script in place of k3s, and many more moments to be killed in
// than on the bed.
import { Sandbox } from '../../../src/provisioners/k3s/testing/sandbox-host.ts';
import { provisionerConformance } from './provisioner.ts';

provisionerConformance('k3s, scripted', async () => {
  const machine = new Sandbox();
  return {
    prefix: 'conf-',
    open: () => machine.provisioner(),
    spec: () => machine.spec(),
    hasOneAddress: true,
    killTools: async () => machine.powerLoss(),
    foreign: async () => {
      machine.write('var/lib/rookery/k3s/owner.json', '{"id":"theirs","name":"x","dataDir":"/x"}');
      return async () => machine.remove('var/lib/rookery');
    },
    leftovers: async () => machine.leftovers(),
    close: async () => machine.close(),
    patienceMs: 120_000,
    callMs: 30_000,
    killPoints: [0, 60, 150, 300, 600],
  };
});

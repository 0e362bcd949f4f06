// vcluster in an API server of our own, with a script in place of kubelets and syncer: the same suite as on the bed, with many more moments to be killed in.
import { readFileSync } from 'node:fs';
import { systemClock } from '../../../src/clock.ts';
import { waitForGone } from '../../../src/kube/index.ts';
import * as host from '../../../src/provisioners/vcluster/host-resources.ts';
import { ScriptedHost } from '../../../src/provisioners/vcluster/testing/scripted-host.ts';
import { VclusterProvisioner } from '../../../src/provisioners/vcluster/vcluster-provisioner.ts';
import { startServer } from '../../harness/server.ts';
import { provisionerConformance } from './provisioner.ts';
import { hostLeftovers } from './vcluster-host.ts';

provisionerConformance('vcluster, scripted', async () => {
  const server = await startServer();
  const store = await server.remote();
  const scripted = new ScriptedHost(store);
  await scripted.start();
  const kubeconfig = readFileSync(await server.kubeconfig(), 'utf8');
  const leftovers = await hostLeftovers(store);
  return {
    prefix: 'conf-',
    open: () => new VclusterProvisioner({ clock: systemClock, probe: scripted.probe, pollMs: 20 }),
    spec: (clusterName) => ({ host: { cluster: 'host' }, clusterName }),
    access: { kubeconfig },
    killTools: async () => {},
    foreign: async (name) => {
      const namespace = `vcluster-${name}`;
      await store.create(host.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      const labels = { app: 'vcluster', release: name };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'syncer', image: 'theirs' }] } };
      await store.create(host.statefulSets, {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { namespace, name, labels },
        spec: { serviceName: name, replicas: 0, selector: { matchLabels: labels }, template },
      });
      return async () => {
        await store.delete(host.namespaces, { name: namespace });
        await waitForGone(store, host.namespaces, { name: namespace }, { timeoutMs: 30_000 });
      };
    },
    leftovers,
    close: async () => {
      await scripted.stop();
      await server.close();
    },
    patienceMs: 60_000,
    callMs: 10_000,
    killPoints: [0, 10, 25, 50, 80, 120, 200],
  };
});

/**
 * vcluster in a kind cluster that was prepared for both sides: one host, its images in the node, one vcluster at a time. By hand: `vcluster create`
 * with helm and the chart of the same release, and the values that Rookery would write.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { KubeObject } from '../../src/api/object.ts';
import { ignoreNotFound, kubeconfigConnection, RemoteStore } from '../../src/kube/index.ts';
import { vclusterConfig } from '../../src/provisioners/vcluster/config.ts';
import * as host from '../../src/provisioners/vcluster/host-resources.ts';
import { kubeconfigFor } from '../../src/provisioners/vcluster/kubeconfig.ts';
import { DNS_LABEL } from '../../src/provisioners/vcluster/marks.ts';
import { nodePortOf } from '../../src/provisioners/vcluster/reach.ts';
import { folderOf } from '../../test/bed/cache.ts';
import { program } from '../../test/bed/environment.ts';
import { run } from '../../test/bed/process.ts';
import { kubernetesVersion, vclusterVersion } from '../../test/bed/versions.ts';
import { Kubectl } from '../../test/e2e/support/kubectl.ts';
import { loadVclusterImages } from '../../test/e2e/support/vcluster-images.ts';
import type { Bench, Contender } from './contender.ts';

const HOST = 'bench-host';
const COUNTED_MS = 60_000;
const POLL_MS = 100;
const PATIENCE_MS = 300_000;
const namespaceOf = (name: string) => `vcluster-${name}`;

export function vcluster({ docker, folder }: Bench): Contender {
  const kubeconfig = join(folder, 'host.kubeconfig');
  const values = join(folder, 'values.yaml');
  const kubectl = new Kubectl(kubeconfig);
  let store: RemoteStore;
  let address: string;
  // HOME: where the tool keeps settings of its own, and would look for those of the user.
  const env = { ...docker.env, KUBECONFIG: kubeconfig, HOME: folder, VCLUSTER_SKIP_VERSION_CHECK: 'true' };
  const tool = (...args: string[]) =>
    run(program('vcluster', 'vcluster-cli'), args, { env, cwd: folder, timeoutMs: PATIENCE_MS });
  return {
    name: 'vcluster',
    images: ['node-image', 'vcluster-images'],
    expects: { nodes: 1, hasNetwork: true, place: 'this machine', dnsLabel: DNS_LABEL },
    async prepare(product) {
      await docker.clear(HOST);
      await product.run('cluster', 'create', HOST, '-p', 'kind', '--image', `kindest/node:${kubernetesVersion}`);
      await loadVclusterImages(docker, `${HOST}-control-plane`);
      const text = await product.run('cluster', 'kubeconfig', HOST);
      writeFileSync(kubeconfig, text, { mode: 0o600 });
      store = new RemoteStore({ connection: await kubeconfigConnection(text, 'this machine') });
      address = await nodeAddress(store);
      const spec = { host: { cluster: HOST }, clusterName: 'bench', kubernetesVersion };
      const config = vclusterConfig({ spec, kubernetesVersion, vclusterVersion, addresses: [address] });
      writeFileSync(values, stringify(config));
    },
    ask: (product, name) =>
      product.run(
        ...['cluster', 'create', name, '-p', 'vcluster', '--host', HOST, '--kubernetes-version', kubernetesVersion],
      ),
    async make(name) {
      const chart = join(folderOf('vcluster'), 'keep/chart');
      const namespace = namespaceOf(name);
      const apart = ['--connect=false', '--driver', 'helm', '--local-chart-dir', chart];
      await tool('create', name, '--namespace', namespace, '--values', values, ...apart);
      const [secret, port] = await written(store, name);
      const text = kubeconfigFor(name, secret, { host: address, port });
      if (!text) throw new Error(`Secret vc-${name} has no certificates`);
      return text;
    },
    async remove(name) {
      await tool('delete', name, '--namespace', namespaceOf(name), '--driver', 'helm');
      await kubectl.run('delete', 'namespace', namespaceOf(name), '--ignore-not-found', '--timeout=100s');
    },
    // The next round shall find a host that rests.
    after: async () => {
      const isClear = async () => (await kubectl.run('get', 'pv', '-o', 'name')) === '';
      for (const end = Date.now() + PATIENCE_MS; !(await isClear()); await delay(500)) {
        if (Date.now() > end) throw new Error('a volume of the last vcluster does not go');
      }
    },
    memoryMiB: (name) => podsMiB(kubectl, namespaceOf(name)),
    close: async () => {
      await store?.close();
      await docker.clear(HOST);
    },
  };
}

async function nodeAddress(store: RemoteStore): Promise<string> {
  const { items } = await store.list(host.nodes);
  const addresses = (items[0]?.status?.addresses ?? []) as { type: string; address: string }[];
  const found = addresses.find(({ type }) => type === 'InternalIP');
  if (!found) throw new Error('the node of the host has no address');
  return found.address;
}

/** What a vcluster writes once it runs, and where it is reached. */
async function written(store: RemoteStore, name: string): Promise<[KubeObject, number]> {
  const namespace = namespaceOf(name);
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(POLL_MS)) {
    const secret = await store.get(host.secrets, { namespace, name: `vc-${name}` }).catch(ignoreNotFound);
    const port = secret && nodePortOf(await store.get(host.services, { namespace, name }));
    if (secret && port) return [secret, port];
  }
  throw new Error(`vcluster ${name} has written no kubeconfig`);
}

interface Summary {
  pods: { podRef: { namespace: string }; memory?: { workingSetBytes?: number } }[];
}

/** Its control plane and its DNS, as the kubelet of the host counts them. */
async function podsMiB(kubectl: Kubectl, namespace: string): Promise<number> {
  const path = `/api/v1/nodes/${HOST}-control-plane/proxy/stats/summary`;
  // The kubelet counts every ten seconds or so, and has not counted pods that are younger.
  for (const end = Date.now() + COUNTED_MS; Date.now() < end; await delay(POLL_MS)) {
    const { pods } = JSON.parse(await kubectl.run('get', '--raw', path)) as Summary;
    const own = pods.filter(({ podRef }) => podRef.namespace === namespace);
    const bytes = own.reduce((sum, { memory }) => sum + (memory?.workingSetBytes ?? 0), 0);
    if (bytes > 0) return bytes / 2 ** 20;
  }
  throw new Error(`the kubelet counts no memory in namespace ${namespace}`);
}

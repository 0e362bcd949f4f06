// An API server of our own on a temporary folder, for tests: real TLS, real files, a free port.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, type Cluster, Clusters, ROOT } from '../../src/apiserver/index.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { Home } from '../../src/embedded/home.ts';
import { kubeconfigText } from '../../src/embedded/kubeconfig.ts';
import { ensurePki } from '../../src/embedded/pki.ts';
import { loadKubeconfig, RemoteStore } from '../../src/kube/index.ts';
import { Keyring } from '../../src/vault/keyring.ts';
import { storeSealer } from '../../src/vault/sealer.ts';

export interface TestServer {
  folder: string;
  url: string;
  clusters: Clusters;
  root: Cluster;
  caPem: string;
  /** Failures that were ours, not the client's; a test that ends with any has found a bug. */
  errors: unknown[];
  /** Path of an administrator's kubeconfig. */
  kubeconfig(cluster?: string): Promise<string>;
  remote(cluster?: string): Promise<RemoteStore>;
  close(): Promise<void>;
}

export async function startServer(options: { folder?: string; port?: number } = {}): Promise<TestServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'rookery-test-'));
  const home = new Home(folder);
  const pki = await ensurePki(home, '127.0.0.1', systemClock);
  const keyring = await Keyring.open(home.keyring);
  const errors: unknown[] = [];
  let port = options.port ?? 0;
  const clusters = new Clusters({
    folder: home.data,
    clock: systemClock,
    random: systemRandom,
    serverCa: pki.ca.cert,
    sealer: (meta, owner) => storeSealer(keyring, meta, owner),
    endpoint: () => ({ address: '192.0.2.1', port }),
  });
  const server = new ApiServer({ clusters, tls: pki.server, port, onError: (error) => errors.push(error) });
  ({ port } = await server.listen());
  const root = await clusters.ensure(ROOT);
  const url = `https://127.0.0.1:${port}`;
  const stores: RemoteStore[] = [];
  const kubeconfig = async (name = ROOT) => {
    const cluster = await clusters.ensure(name);
    const path = join(folder, `kubeconfig-${name || 'root'}`);
    const address = name ? `${url}/clusters/${name}` : url;
    const { adminToken } = cluster.credentials;
    writeFileSync(
      path,
      kubeconfigText({ name: name || 'root', server: address, caPem: pki.ca.cert, token: adminToken }),
    );
    return path;
  };
  return {
    folder,
    url,
    clusters,
    root,
    caPem: pki.ca.cert,
    errors,
    kubeconfig,
    async remote(name = ROOT) {
      const store = new RemoteStore({ connection: await loadKubeconfig({ file: await kubeconfig(name) }) });
      stores.push(store);
      return store;
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await server.close();
      await clusters.close();
      if (!options.folder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

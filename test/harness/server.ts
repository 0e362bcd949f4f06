// An API server of our own on a temporary folder, for tests: real TLS, real files, a free port.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiServer,
  type Cluster,
  Clusters,
  type ClustersOptions,
  ROOT,
  type ServerOptions,
  serverNameOf,
} from '../../src/apiserver/index.ts';
import { type Clock, systemClock, systemRandom } from '../../src/clock.ts';
import { clientCertificates } from '../../src/embedded/client-certificates.ts';
import { Home } from '../../src/embedded/home.ts';
import { kubeconfigText } from '../../src/embedded/kubeconfig.ts';
import { ensurePki } from '../../src/embedded/pki.ts';
import { loadKubeconfig, RemoteStore } from '../../src/kube/index.ts';
import { Keyring } from '../../src/vault/keyring.ts';
import { storeSealer } from '../../src/vault/sealer.ts';
import { Http } from './http.ts';

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
  /** An administrator's plain HTTPS client. */
  http(cluster?: string): Promise<Http>;
  close(): Promise<void>;
}

export interface TestServerOptions {
  folder?: string;
  port?: number;
  sleepAfterMs?: number;
  clock?: Clock;
  /** What runs in tenants besides the server's own loops. */
  loops?: ClustersOptions['loops'];
  /** Admission of the root cluster. */
  admission?: ClustersOptions['admission'];
  /** Of connections. */
  limits?: ServerOptions['limits'];
}

export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'rookery-test-'));
  const home = new Home(folder);
  const pki = await ensurePki(home, ['127.0.0.1'], systemClock);
  const keyring = await Keyring.open(home.keyring);
  const errors: unknown[] = [];
  let port = options.port ?? 0;
  const clusters = new Clusters({
    folder: home.data,
    clock: options.clock ?? systemClock,
    random: systemRandom,
    serverCa: pki.ca.cert,
    certificates: clientCertificates(options.clock ?? systemClock),
    sealer: (meta, owner) => storeSealer(keyring, meta, owner),
    endpoint: () => ({ address: '192.0.2.1', port }),
    sleepAfterMs: options.sleepAfterMs,
    loops: options.loops,
    admission: options.admission,
  });
  const server = new ApiServer({
    clusters,
    tls: pki.server,
    port,
    limits: options.limits,
    metrics: () => 'rookery_clusters 2\n',
    onError: (error) => errors.push(error),
  });
  ({ port } = await server.listen());
  const root = await clusters.ensure(ROOT);
  const url = `https://127.0.0.1:${port}`;
  const stores: RemoteStore[] = [];
  const clients: Http[] = [];
  const kubeconfig = async (name = ROOT) => {
    const cluster = await clusters.ensure(name);
    const path = join(folder, `kubeconfig-${name || 'root'}`);
    const address = name ? `${url}/clusters/${name}` : url;
    const { adminToken } = cluster.credentials;
    writeFileSync(
      path,
      kubeconfigText({
        name: name || 'root',
        server: address,
        ...(name ? { serverName: serverNameOf(name) } : {}),
        caPem: pki.ca.cert,
        token: adminToken,
      }),
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
    async http(name = ROOT) {
      const { credentials } = await clusters.ensure(name);
      const client = new Http(name ? `${url}/clusters/${name}` : url, pki.ca.cert, credentials.adminToken);
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.close();
      await Promise.all(stores.map((store) => store.close()));
      await server.close();
      await clusters.close();
      if (!options.folder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

// A virtual cluster that is suspended: refused with a sentence, also after a restart, and back with everything it had.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { configMaps, secrets, virtualClusters } from '../../src/api/resources.ts';
import { loadConfig } from '../../src/config.ts';
import { SUSPENDED_ANNOTATION } from '../../src/controllers/provisioned-cluster-scope.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { apiVersionOf, getCondition, kubeconfigConnection, RemoteStore, waitFor } from '../../src/kube/index.ts';

const home = mkdtempSync(join(tmpdir(), 'rookery-suspend-'));
const KEY = { namespace: 'default', name: 'nap' };
const letter = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'letter' },
  data: { a: '1' },
};
let plane: ControlPlane;
const start = () => ControlPlane.start({ config: loadConfig({}, { home, port: 0 }) });

beforeAll(async () => {
  plane = await start();
});
afterAll(async () => {
  await plane.close();
  rmSync(home, { recursive: true, force: true });
});

const reason = (wanted: string) =>
  waitFor(plane.store, virtualClusters, KEY, (object) => !!object && getCondition(object, 'Ready')?.reason === wanted, {
    timeoutMs: 30_000,
    what: wanted,
  });

async function suspend(value: string | null): Promise<void> {
  const body = { metadata: { annotations: { [SUSPENDED_ANNOTATION]: value } } };
  await plane.store.patch(virtualClusters, KEY, { type: 'merge', body });
}

/** With the kubeconfig that users have. */
async function inside<T>(use: (api: RemoteStore) => Promise<T>): Promise<T> {
  const secret = await plane.store.get(secrets, { namespace: 'default', name: 'nap-kubeconfig' });
  const data = Buffer.from(secret.data?.value, 'base64').toString();
  const api = new RemoteStore({ connection: await kubeconfigConnection(data, 'this machine') });
  try {
    return await use(api);
  } finally {
    await api.close();
  }
}

it('refuses its users while it is suspended, and has everything when it is resumed', async () => {
  const metadata = { ...KEY };
  await plane.store.create(virtualClusters, {
    apiVersion: apiVersionOf(virtualClusters),
    kind: 'VirtualCluster',
    metadata,
    spec: {},
  });
  await reason('TenantServing');
  await inside((api) => api.create(configMaps, letter));

  await suspend('true');
  await reason('Suspended');
  const refusal = { code: 503, message: 'the cluster nap is suspended; wake it with: rookery cluster resume nap' };
  await expect(inside((api) => api.get(configMaps, letter.metadata))).rejects.toMatchObject(refusal);
  expect(plane.clusters.isAwake('nap')).toBe(false);

  await plane.close();
  plane = await start();
  await plane.store.patch(virtualClusters, KEY, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
  const { port } = new URL(plane.url);
  await waitFor(plane.store, virtualClusters, KEY, (object) => object?.status?.conditions !== undefined, {
    timeoutMs: 30_000,
  });
  await suspend(null);
  await waitFor(
    plane.store,
    virtualClusters,
    KEY,
    (object) => object?.spec?.controlPlaneEndpoint?.port === Number(port) && object.status?.ready === true,
    { timeoutMs: 30_000, what: 'it is back, at the new address' },
  );
  expect((await inside((api) => api.get(configMaps, letter.metadata))).data).toEqual(letter.data);
});

/** A control plane in this process with two virtual clusters, demo and other, and something worth keeping in demo. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/object.ts';
import { configMaps, secrets, virtualClusters } from '../../src/api/resources.ts';
import { loadConfig } from '../../src/config.ts';
import { STORE_DECISION_ANNOTATION } from '../../src/controllers/provisioned-cluster-scope.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { getCondition, kubeconfigConnection, RemoteStore, waitFor } from '../../src/kube/index.ts';
import { clusterWays } from '../../src/provisioners/registry.ts';
import { requestCluster } from '../../src/provisioners/request-cluster.ts';

export const KEY = { namespace: 'default', name: 'demo' };
const LETTER = { namespace: 'default', name: 'letter' };
const SECRET = { namespace: 'default', name: 'sealed' };
export const TEXT = 'x'.repeat(20_000);

export class TenantScene {
  readonly home = mkdtempSync(join(tmpdir(), 'rookery-damage-'));
  #plane: ControlPlane | undefined;

  get plane(): ControlPlane {
    if (!this.#plane) throw new Error('the control plane is not up');
    return this.#plane;
  }

  async start(home = this.home): Promise<ControlPlane> {
    this.#plane = await ControlPlane.start({ config: loadConfig({}, { home, port: 0 }) });
    return this.#plane;
  }

  async stop(): Promise<void> {
    await this.#plane?.close();
    this.#plane = undefined;
  }

  async furnish(): Promise<void> {
    const { store } = await this.start();
    const virtual = clusterWays.find((way) => way.name === 'virtual') as (typeof clusterWays)[number];
    for (const name of ['demo', 'other']) await requestCluster(store, virtual, { ...KEY, name });
    for (const name of ['demo', 'other']) await this.reason('TenantServing', name);
    await this.inside(async (api) => {
      await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: LETTER, data: { text: TEXT } });
      await api.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: SECRET, stringData: { text: 'seal' } });
    });
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  file(name: string): string {
    return join(this.home, 'data', 'clusters', `${name}.db`);
  }

  /** Waits until the VirtualCluster says this of itself. */
  reason(wanted: string, name = KEY.name): Promise<KubeObject | undefined> {
    const holds = (object: KubeObject | undefined) => !!object && getCondition(object, 'Ready')?.reason === wanted;
    const options = { timeoutMs: 60_000, what: wanted };
    return waitFor(this.plane.store, virtualClusters, { ...KEY, name }, holds, options);
  }

  async decide(decision: 'restore' | 'start-empty'): Promise<void> {
    const body = { metadata: { annotations: { [STORE_DECISION_ANNOTATION]: decision } } };
    await this.plane.store.patch(virtualClusters, KEY, { type: 'merge', body });
    const isDone = (object: KubeObject | undefined) => !object?.metadata.annotations?.[STORE_DECISION_ANNOTATION];
    await waitFor(this.plane.store, virtualClusters, KEY, isDone, {
      timeoutMs: 60_000,
      what: 'the decision to be done',
    });
  }

  /** Inside demo, with the kubeconfig that its users have. */
  async inside<T>(use: (api: RemoteStore) => Promise<T>): Promise<T> {
    const { store, url } = this.plane;
    const secret = await store.get(secrets, { namespace: 'default', name: 'demo-kubeconfig' });
    const text = Buffer.from(secret.data?.value, 'base64').toString();
    const api = new RemoteStore({
      connection: await kubeconfigConnection(text.replace(/https:\/\/[^/]+/, url), 'this machine'),
    });
    try {
      return await use(api);
    } finally {
      await api.close();
    }
  }

  async letter(): Promise<string> {
    return await this.inside(async (api) => (await api.get(configMaps, LETTER)).data?.text);
  }

  async sealed(): Promise<string> {
    const secret = await this.inside((api) => api.get(secrets, SECRET));
    return Buffer.from(secret.data?.text, 'base64').toString();
  }
}

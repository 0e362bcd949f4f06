/**
 * How a command asks the control plane for copies to pack: a ConfigMap in kube-system, which only administrators of the control plane may write. The
 * answer is in its data. The command removes it; one that a killed command left is removed after an hour, with the copies.
 */
import { rm } from 'node:fs/promises';
import type { KubeObject } from '../../api/object.ts';
import { configMaps } from '../../api/resources.ts';
import type { Clusters } from '../../apiserver/index.ts';
import { rfc3339 } from '../../clock.ts';
import { type ControllerOptions, ignoreNotFound, type ObjectStore, requeueAfter } from '../../kube/index.ts';
import type { Home } from '../home.ts';
import { stage } from './stage.ts';

const LABEL = 'rookery.dev/backup-request';
const NAMESPACE = 'kube-system';
const FORGOTTEN_MS = 3_600_000;

/** `name`: of the request and of its folder. */
export function backupRequest(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: `backup-${name}`, labels: { [LABEL]: 'true' } },
    data: {},
  };
}

export interface BackupRequestParts {
  home: Home;
  clusters: Clusters;
  version: string;
}

export function backupRequestController(store: ObjectStore, parts: BackupRequestParts): ControllerOptions {
  const { home, clusters, version } = parts;
  return {
    name: 'backup-request',
    resource: configMaps,
    selection: { labelSelector: LABEL },
    concurrency: 1,
    async reconcile(key, { signal, clock }) {
      if (key.namespace !== NAMESPACE) return;
      const folder = home.staged(key.name);
      const request = await store.get(configMaps, key, { signal }).catch(ignoreNotFound);
      if (!request) return await rm(folder, { recursive: true, force: true });
      if (request.data?.state) {
        const left = Date.parse(request.metadata.creationTimestamp ?? '') + FORGOTTEN_MS - clock.now();
        if (left > 0) return requeueAfter(left);
        return void (await store.delete(configMaps, key, { signal }));
      }
      const data = await stage(home, clusters, folder, { createdAt: rfc3339(clock.now()), version }).then(
        () => ({ state: 'staged' }),
        async (error) => {
          await rm(folder, { recursive: true, force: true });
          return { state: 'failed', message: (error as Error).message };
        },
      );
      await store.patch(configMaps, key, { type: 'merge', body: { data } }, { signal });
    },
  };
}

/** Keeps `status.storage` of virtual clusters true while they are used: nothing else reconciles a cluster for what its users store. */
import { virtualClusters } from '../api/resources.ts';
import type { Clusters, Usage } from '../apiserver/index.ts';
import { type Clock, every } from '../clock.ts';
import { ignoreNotFound, type ObjectStore } from '../kube/index.ts';
import { tenantKey } from '../provisioners/virtual/tenants.ts';
import type { Logger } from '../telemetry/log.ts';
import type { StorageLimits } from './storage-limits.ts';

const EVERY_MS = 15_000;
/** Of the limit. Smaller changes wait for others: a status that is always exact would be written all the time. */
const WORTH_TELLING = 0.01;

export interface StorageReportsOptions {
  store: Pick<ObjectStore, 'patch'>;
  clusters: Pick<Clusters, 'usages'>;
  limits: Pick<StorageLimits, 'of'>;
  clock: Clock;
  log?: Logger;
}

/** Answers how to end it. */
export function reportStorage({ store, clusters, limits, clock, log }: StorageReportsOptions): () => void {
  const told = new Map<string, Usage>();
  const tell = async () => {
    for (const [tenant, used] of clusters.usages()) {
      const limit = limits.of(tenant);
      if (!isWorthTelling(told.get(tenant), used, limit)) continue;
      told.set(tenant, used);
      const patch = { type: 'merge' as const, body: { status: { storage: storageStatus(used, limit) } } };
      await store.patch(virtualClusters, tenantKey(tenant), patch, { subresource: 'status' }).catch(ignoreNotFound);
    }
  };
  return every(clock, EVERY_MS, () => {
    tell().catch((error) => log?.warn('what clusters store cannot be reported', { error: String(error) }));
  });
}

export function storageStatus(used: Usage, limit: Usage) {
  return {
    bytes: { used: used.bytes, limit: limit.bytes },
    objects: { used: used.objects, limit: limit.objects },
  };
}

function isWorthTelling(before: Usage | undefined, now: Usage, limit: Usage): boolean {
  const moved = (what: keyof Usage) => Math.abs(now[what] - (before?.[what] ?? 0)) >= limit[what] * WORTH_TELLING;
  return moved('bytes') || moved('objects');
}

/** What a cluster is born with; missing pieces are put back when a newer server opens an older file. */
import type { KubeObject } from '../api/object.ts';
import { rfc3339 } from '../clock.ts';
import { LOOPBACK } from './auth/identity.ts';
import type { Cluster } from './cluster.ts';
import { keyOf, toStored } from './handlers/stored-form.ts';
import { type BootstrapParameters, bootstrapObjects } from './loops/bootstrap-objects.ts';
import type { Resource } from './resource.ts';
import { VERSION } from './version.ts';

const MARK = 'bootstrapped';
/** Goes up when objects are added that older files lack. */
const REVISION = `${VERSION.gitVersion} 2`;

export async function bootstrap(cluster: Cluster, parameters: Omit<BootstrapParameters, 'now'>): Promise<void> {
  const { meta } = cluster.store;
  if (meta.get(MARK) === REVISION) return;
  await putMissing(cluster, bootstrapObjects({ ...parameters, now: cluster.clock.now() }));
  meta.set(MARK, REVISION);
}

/** In one step and without a check: for objects that the program brings and its tests have checked. Returns those that were there, as given. */
export async function putMissing(cluster: Cluster, objects: readonly KubeObject[]): Promise<KubeObject[]> {
  const { store, registry, clock, random } = cluster;
  const present: KubeObject[] = [];
  await store.write((tx) => {
    for (const object of objects) {
      const [version = '', group = ''] = object.apiVersion.split('/').reverse();
      const resource = registry.byKind(group, version, object.kind) as Resource;
      const key = keyOf(resource, object.metadata.namespace ?? '', object.metadata.name ?? '');
      if (tx.get(key)) {
        present.push(object);
        continue;
      }
      object.metadata.uid = random.uuid();
      object.metadata.creationTimestamp = rfc3339(clock.now());
      const { status } = object;
      resource.strategy.prepareCreate?.(object, {
        now: clock.now(),
        user: LOOPBACK.user,
        groups: LOOPBACK.groups,
        dryRun: false,
      });
      if (status) object.status = status;
      resource.strategy.defaults?.(object);
      tx.put(key, toStored(resource, object));
    }
  });
  return present;
}

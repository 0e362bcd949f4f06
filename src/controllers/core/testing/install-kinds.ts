/** CRDs for stores that have none: as much of them as finding a kind by its contract needs. */
import { customResourceDefinitions } from '../../../api/resources.ts';
import type { ObjectStore, ResourceRef } from '../../../kube/index.ts';
import { OUR_CORE_LABEL, REPORTS_CONNECTION_LABEL } from '../names.ts';

export async function installKinds(store: ObjectStore, ...kinds: ResourceRef[]): Promise<void> {
  for (const { group, version, plural, kind } of kinds) {
    const labels = {
      'cluster.x-k8s.io/v1beta2': version,
      ...(group === 'cluster.x-k8s.io' ? { [OUR_CORE_LABEL]: 'rookery' } : { [REPORTS_CONNECTION_LABEL]: 'true' }),
    };
    await store.create(customResourceDefinitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}`, labels },
      spec: { group, names: { kind, plural } },
    });
  }
}

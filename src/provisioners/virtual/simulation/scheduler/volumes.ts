/** Claims a pod cannot be placed without. */
import type { KubeObject } from '../../../../api/object.ts';
import type { World } from '../world.ts';

const CLAIMS = '/persistentvolumeclaims';

export function volumeProblem(world: World, pod: KubeObject): string | undefined {
  for (const { persistentVolumeClaim: claim } of pod.spec.volumes ?? []) {
    if (!claim) continue;
    const found = world.cache.get(CLAIMS, pod.metadata.namespace ?? '', claim.claimName);
    if (!found) return `persistentvolumeclaim "${claim.claimName}" not found`;
    if (found.metadata.deletionTimestamp) return `persistentvolumeclaim "${claim.claimName}" is being deleted`;
    if (found.status?.phase === 'Lost')
      return `persistentvolumeclaim "${claim.claimName}" bound to non-existent persistentvolume`;
    if (found.status?.phase === 'Bound' || waitsForConsumer(world, found)) continue;
    return 'pod has unbound immediate PersistentVolumeClaims';
  }
  return undefined;
}

function waitsForConsumer(world: World, claim: KubeObject): boolean {
  const name = claim.spec?.storageClassName;
  const found = name && world.cache.get('storage.k8s.io/storageclasses', '', name);
  return Boolean(found) && found.volumeBindingMode === 'WaitForFirstConsumer';
}

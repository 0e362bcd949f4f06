/** What a pod cannot start without: volumes and environment that come from other objects. */
import type { KubeObject } from '../../../../api/object.ts';
import type { World } from '../world.ts';

// biome-ignore lint/suspicious/noExplicitAny: container and volume specs, checked by the server's schema
type Any = any;

function has(world: World, resource: string, pod: KubeObject, name: string): boolean {
  const namespace = pod.metadata.namespace ?? '';
  return world.context.store.get({ resource, namespace, name }) !== undefined;
}

/** The first problem, worded as the kubelet words it. */
export function missingVolume(world: World, pod: KubeObject): string | undefined {
  for (const volume of (pod.spec.volumes ?? []) as Any[]) {
    const problem = (what: string, name: string) =>
      `MountVolume.SetUp failed for volume "${volume.name}" : ${what} "${name}" not found`;
    const { configMap, secret, persistentVolumeClaim: claim, projected } = volume;
    if (configMap && !configMap.optional && !has(world, '/configmaps', pod, configMap.name)) {
      return problem('configmap', configMap.name);
    }
    if (secret && !secret.optional && !has(world, '/secrets', pod, secret.secretName)) {
      return problem('secret', secret.secretName);
    }
    if (claim) {
      const found = world.cache.get('/persistentvolumeclaims', pod.metadata.namespace ?? '', claim.claimName);
      if (found?.status?.phase !== 'Bound')
        return `Unable to attach or mount volumes: unmounted volumes=[${volume.name}]`;
    }
    for (const { configMap: map, secret: key } of projected?.sources ?? []) {
      // Every namespace has this one; a pod may be faster than the loop that makes it.
      if (map && !map.optional && map.name !== 'kube-root-ca.crt' && !has(world, '/configmaps', pod, map.name)) {
        return problem('configmap', map.name);
      }
      if (key && !key.optional && !has(world, '/secrets', pod, key.name)) return problem('secret', key.name);
    }
  }
  return undefined;
}

export function missingEnvironment(world: World, pod: KubeObject, container: Any): string | undefined {
  const sources = [
    ...(container.envFrom ?? []).map((from: Any) => [from.configMapRef, from.secretRef]),
    ...(container.env ?? []).map(({ valueFrom }: Any) => [valueFrom?.configMapKeyRef, valueFrom?.secretKeyRef]),
  ];
  for (const [map, secret] of sources) {
    if (map && !map.optional && !has(world, '/configmaps', pod, map.name)) return `configmap "${map.name}" not found`;
    if (secret && !secret.optional && !has(world, '/secrets', pod, secret.name))
      return `secret "${secret.name}" not found`;
  }
  return undefined;
}

/** Workspaces whose nested cluster uses this machine: its author answers for a template, and a user only for what they add to it. */
import type { KubeObject } from '../../api/object.ts';
import type { HostUse } from '../../provisioners/host-use.ts';

interface NestedCluster {
  mode?: string;
  provisioner?: string;
}

/** Made without containers. `auto`, which is the default, takes containers where there is Docker. */
const ELSEWHERE = ['virtual', 'vcluster'];

export function templateHostUses(template: KubeObject): HostUse[] {
  const cluster: NestedCluster = template.spec?.defaults?.cluster ?? {};
  if (!usesHost(cluster)) return [];
  return [{ capability: 'containers', field: 'spec.defaults.cluster', value: cluster.provisioner ?? 'auto' }];
}

/** A template that does not exist yet, or has no cluster now, may get one later: what the override itself asks for counts then. */
export function instanceHostUses(instance: KubeObject, template: KubeObject | undefined): HostUse[] {
  const common: NestedCluster = template?.spec?.defaults?.cluster ?? {};
  const own: NestedCluster = instance.spec?.overrides?.cluster ?? {};
  if (usesHost(common)) return [];
  const asksForContainers = own.provisioner !== undefined && !ELSEWHERE.includes(own.provisioner);
  const addsCluster = own.mode !== undefined && usesHost({ ...common, ...own });
  if (!asksForContainers && !addsCluster) return [];
  return [{ capability: 'containers', field: 'spec.overrides.cluster', value: own }];
}

function usesHost({ mode = 'none', provisioner = 'auto' }: NestedCluster): boolean {
  return mode !== 'none' && !ELSEWHERE.includes(provisioner);
}

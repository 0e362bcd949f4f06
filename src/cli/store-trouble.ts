/** Whether the store of a virtual cluster is lost or damaged, as its conditions say. */
import type { KubeObject } from '../api/object.ts';
import { getCondition } from '../kube/index.ts';

export function hasStoreTrouble(provider: KubeObject): boolean {
  return ['StoreMissing', 'StoreDamaged'].includes(getCondition(provider, 'Ready')?.reason ?? '');
}

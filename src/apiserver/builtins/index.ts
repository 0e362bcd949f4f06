/**
 * What built-in kinds do beyond the generic road: defaults, upkeep, validation, printing, selectors, scale and
 * conversion, asked for by (group, kind); core is ''. Strategies are made when first asked for and kept, so importing
 * this costs no more than the code. Nothing here reads the store: what needs another object is admission.
 */
import type { KubeObject } from '../../api/object.ts';
import { crdStrategy } from '../crd/strategy.ts';
import type { Printer, Strategy } from '../resource.ts';
import { convertAutoscaler } from './autoscaler-conversion.ts';
import { coreKinds } from './core-kinds.ts';
import { convertEvent } from './event-conversion.ts';
import { groupKinds } from './group-kinds.ts';
import { type KindRules, strategy } from './kind.ts';
import type { NameKind } from './metadata-validation.ts';
import { corePrinters } from './printers/core.ts';
import { groupPrinters } from './printers/groups.ts';
import { defaultPrinter } from './printers/table.ts';
import { workloadPrinters } from './printers/workloads.ts';
import { workloadKinds } from './workloads.ts';

export { validateObjectMeta, validateObjectMetaUpdate } from './metadata-validation.ts';
export { scaleOf } from './scale.ts';
export { selectableFieldsOf } from './selectable-fields.ts';

const made = new Map<string, Strategy>();

function rulesOf(group: string, kind: string): KindRules {
  return workloadKinds[group]?.[kind] ?? (group === '' ? coreKinds[kind] : groupKinds[group]?.[kind]) ?? {};
}

/** Unknown kinds get the plain strategy: no status, no generation. */
export function strategyOf(group: string, kind: string): Strategy {
  const key = `${group}/${kind}`;
  let found = made.get(key);
  if (!found) {
    found = kind === 'CustomResourceDefinition' ? crdStrategy : strategy(rulesOf(group, kind));
    made.set(key, found);
  }
  return found;
}

/** Kinds without a printer of their own get upstream's default, NAME and CREATED AT. */
export function printerOf(group: string, kind: string): Printer {
  const own = group === '' ? corePrinters[kind] : (workloadPrinters[group]?.[kind] ?? groupPrinters[group]?.[kind]);
  return own ?? defaultPrinter;
}

export function convertOf(group: string, kind: string): ((object: KubeObject, toVersion: string) => void) | undefined {
  if (group === 'autoscaling' && kind === 'HorizontalPodAutoscaler') return convertAutoscaler;
  if (kind === 'Event' && (group === '' || group === 'events.k8s.io')) return convertEvent;
  return undefined;
}

const NAME_KINDS: Record<string, NameKind> = {
  '/Namespace': 'label',
  '/Service': 'label1035',
  'apps/StatefulSet': 'label',
  'rbac.authorization.k8s.io/Role': 'pathSegment',
  'rbac.authorization.k8s.io/ClusterRole': 'pathSegment',
  'rbac.authorization.k8s.io/RoleBinding': 'pathSegment',
  'rbac.authorization.k8s.io/ClusterRoleBinding': 'pathSegment',
  'flowcontrol.apiserver.k8s.io/FlowSchema': 'pathSegment',
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': 'pathSegment',
  'networking.k8s.io/IPAddress': 'pathSegment',
  'certificates.k8s.io/ClusterTrustBundle': 'pathSegment',
};

/** What form names of this kind must have, for `validateObjectMeta`. */
export function nameKindOf(group: string, kind: string): NameKind {
  return NAME_KINDS[`${group}/${kind}`] ?? 'subdomain';
}

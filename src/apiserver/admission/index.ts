/** The built-in plug-ins, in upstream's order; webhooks and policies go between `mutating` and `validating` ones. */
import type { AdmissionPlugin } from './admission.ts';
import { limitRanger } from './limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { defaultTolerationSeconds, priority, runtimeClass, taintNodesByCondition } from './pod-defaults.ts';
import { podSecurity } from './pod-security/pod-security.ts';
import { resourceQuota } from './resource-quota.ts';
import { serviceAccount } from './service-account.ts';
import { DEFAULT_RANGE, type ServiceRange, serviceIPs } from './service-ips.ts';
import { defaultIngressClass, defaultStorageClass, storageObjectInUseProtection } from './storage-defaults.ts';

export { type AdmissionPlugin, admit, commit } from './admission.ts';

/** One list per cluster: its service range is its own. */
export function builtinPlugins(range: ServiceRange = DEFAULT_RANGE): AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    taintNodesByCondition,
    limitRanger,
    serviceAccount,
    podSecurity,
    priority,
    defaultTolerationSeconds,
    defaultStorageClass,
    storageObjectInUseProtection,
    runtimeClass,
    defaultIngressClass,
    serviceIPs(range),
    resourceQuota,
  ];
}

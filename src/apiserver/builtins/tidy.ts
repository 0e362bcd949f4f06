/**
 * Built-in objects pass through Go types and protobuf upstream: null, empty lists, empty maps and many zeros come out
 * as nothing. Without this a client that sends `env: []` would see a difference on every apply.
 */
import type { Any } from './fields.ts';

/** Fields whose Go type is a map: an empty one is nothing, while an empty struct (`emptyDir: {}`) means something. */
const MAPS = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'data',
  'binaryData',
  'limits',
  'requests',
  'hard',
  'used',
  'capacity',
  'allocatable',
  'overhead',
  'podFixed',
  'parameters',
  'volumeAttributes',
  'default',
  'defaultRequest',
  'max',
  'min',
  'maxLimitRequestRatio',
]);

/**
 * Scalars that Go leaves out when they are zero, wherever they stand (no pointer, omitempty; found by reflection over
 * k8s.io/api 0.35.8). Names that are kept in some types are not here.
 */
const OMITTED_ZERO = new Set(
  `
  active allocationMode certificateChainPath chapAuthDiscovery chapAuthSession clusterIP clusterScope
  completedIndexes component concurrencyPolicy containerID credentialBundlePath currentRevision datasetName
  datasetUUID deprecatedCount description directory dnsPolicy externalID externalName externalTrafficPolicy failed
  failureThreshold fullyLabeledReplicas globalDefault group hardwareAddress health healthCheckNodePort host hostIP
  hostIPC hostNetwork hostPID hostPort imagePullPolicy initialDelaySeconds interfaceName iscsiInterface keyPath
  keyType keyring level loadBalancerIP medium messageExpression minReadySeconds nodePort nominatedNodeName note
  number numberAvailable numberUnavailable paused persistentVolumeReclaimPolicy phase podCIDR podGroupReplicaKey
  podIP podManagementPolicy policyName prefix priorityClassName protectionDomain providerID
  publishNotReadyAddresses pullPolicy qosClass readyReplicas reference reportingController resize role
  schedulerName scheme secretFile serviceAccount serviceAccountName sessionAffinity signal sizeBytes sslEnabled
  stdin stdinOnce storageMode storagePolicyID storagePolicyName storagePool subPath subPathExpr subdomain
  succeeded successThreshold targetContainerName targetVolumeAttributesClassName tenant terminationMessagePath
  terminationMessagePolicy tty unavailableReplicas unschedulable updateRevision updatedNumberScheduled
  updatedReplicas user username volumeNamespace whenDeleted whenScaled workingDir
`
    .trim()
    .split(/\s+/),
);

function isNothing(name: string, value: Any): boolean {
  if (value === null || value === undefined) return true;
  if (value === '' || value === 0 || value === false) return OMITTED_ZERO.has(name);
  if (Array.isArray(value)) return value.length === 0;
  return MAPS.has(name) && typeof value === 'object' && Object.keys(value).length === 0;
}

/** Maps have keys of the user's, which mean nothing here. A selector is one where it is no LabelSelector. */
function isMap(name: string, value: Any): boolean {
  return MAPS.has(name) || (name === 'selector' && !value.matchLabels && !value.matchExpressions);
}

/** Removes what means nothing, in place. `managedFields` has a shape of its own and stays. */
export function tidy(object: Any): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (name === 'managedFields') continue;
    if (isNothing(name, value)) delete object[name];
    else if (Array.isArray(value)) tidyItems(name, value);
    else if (typeof value === 'object' && !isMap(name, value)) tidy(value);
  }
}

/** Zero scalars whose name means other things elsewhere. */
const OMITTED_IN: Record<string, string> = { env: 'value', ports: 'name', volumeMounts: 'readOnly' };

function tidyItems(list: string, values: Any[]): void {
  const zero = OMITTED_IN[list];
  for (const item of values) {
    if (!item || typeof item !== 'object') continue;
    tidy(item);
    if (zero && (item[zero] === '' || item[zero] === false)) delete item[zero];
  }
}

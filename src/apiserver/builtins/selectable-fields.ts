/** Field selectors of built-in kinds beyond metadata.name and metadata.namespace: label → where the value is. */
import type { KubeObject } from '../../api/object.ts';
import { at, isZero } from './fields.ts';

type Selectable = Record<string, (object: KubeObject) => string>;

/** `label` or `label=path` where they differ; values print as Go's fmt.Sprint, booleans default to false. */
const TABLE: Record<string, string[]> = {
  '/Pod': [
    'spec.nodeName',
    'spec.host=spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork?',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/Node': ['spec.unschedulable?'],
  '/ReplicationController': ['status.replicas#'],
  '/Namespace': ['status.phase'],
  '/Secret': ['type'],
  '/Service': ['spec.clusterIP', 'spec.type'],
  '/Event': [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'type',
  ],
  'events.k8s.io/Event': [
    'regarding.kind',
    'regarding.namespace',
    'regarding.name',
    'regarding.uid',
    'regarding.apiVersion',
    'regarding.resourceVersion',
    'regarding.fieldPath',
    'reason',
    'reportingController',
    'type',
  ],
  'apps/ReplicaSet': ['status.replicas#'],
  'batch/Job': ['status.successful=status.succeeded#'],
  'certificates.k8s.io/CertificateSigningRequest': ['spec.signerName'],
  'certificates.k8s.io/ClusterTrustBundle': ['spec.signerName'],
  'resource.k8s.io/ResourceSlice': ['spec.nodeName', 'spec.driver'],
  'networking.k8s.io/IPAddress': [],
};

/** The fields that are named differently in the stored form of an event. */
const EVENT_NAMES: Record<string, string> = { regarding: 'involvedObject', reportingController: 'reportingComponent' };

function reader(entry: string): [string, (object: KubeObject) => string] {
  const [label = '', path = label] = entry.replace(/[?#]$/, '').split('=');
  if (entry.endsWith('?')) return [label, (object) => (at(object, path) ? 'true' : 'false')];
  if (entry.endsWith('#')) return [label, (object) => String(at(object, path) ?? 0)];
  const [head = '', ...rest] = path.split('.');
  const stored = EVENT_NAMES[head] ? [EVENT_NAMES[head], ...rest].join('.') : path;
  return [label, (object) => text(at(object, path) ?? (stored === path ? undefined : at(object, stored)))];
}

function text(value: unknown): string {
  return isZero(value) ? '' : String(value);
}

export function selectableFieldsOf(group: string, kind: string): Selectable {
  const fields = Object.fromEntries((TABLE[`${group}/${kind}`] ?? []).map(reader));
  if (kind === 'Event') fields.source = eventSource;
  if (group === '' && kind === 'Pod') fields['status.podIPs'] = (pod) => pod.status?.podIPs?.[0]?.ip ?? '';
  return fields;
}

function eventSource(event: KubeObject): string {
  const source = event.source ?? event.deprecatedSource;
  return source?.component || event.reportingComponent || event.reportingController || '';
}

/** `kubectl get` for the core group but pods. */
import type { Printer } from '../../resource.ts';
import { age } from '../duration.ts';
import { type Any, items } from '../fields.ts';
import { podPrinter } from './pod.ts';
import { containerCells, created, formatLabels, listWithMore, printer } from './table.ts';

const ACCESS_MODES: Array<[string, string]> = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(modes: Any): string {
  return ACCESS_MODES.filter(([mode]) => items(modes).includes(mode))
    .map(([, short]) => short)
    .join(',');
}

function storageClass(object: Any): string {
  return (
    object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? object.spec?.storageClassName ?? ''
  );
}

function externalIP(service: Any): string {
  const { type, externalIPs, externalName } = service.spec ?? {};
  const external = items(externalIPs).join(',');
  if (type === 'ExternalName') return externalName ?? '';
  if (type !== 'LoadBalancer') return external || '<none>';
  const balancers = items(service.status?.loadBalancer?.ingress)
    .map((i) => i.ip || i.hostname)
    .filter(Boolean);
  const shown = [...new Set(balancers)].sort();
  return [...shown, ...items(externalIPs)].join(',') || '<pending>';
}

function servicePorts(ports: Any): string {
  const texts = items(ports).map((p) => `${p.nodePort > 0 ? `${p.port}:${p.nodePort}` : p.port}/${p.protocol}`);
  return texts.join(',') || '<none>';
}

function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function endpoints(object: Any): string {
  if (items(object.subsets).length === 0) return '<none>';
  const list: string[] = [];
  for (const subset of items(object.subsets)) {
    const addresses = items(subset.addresses).map((address) => address.ip as string);
    const ports = items(subset.ports);
    if (ports.length === 0) list.push(...addresses);
    for (const { port } of ports) list.push(...addresses.map((ip) => hostPort(ip, port)));
  }
  return listWithMore(list, 3, '');
}

function nodeRoles(node: Any): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries<string>(node.metadata.labels ?? {})) {
    const role = /^node-role\.kubernetes\.io\/(.+)$/.exec(key)?.[1] ?? (key === 'kubernetes.io/role' ? value : '');
    if (role) roles.add(role);
  }
  return [...roles].sort().join(',') || '<none>';
}

function nodeStatus(node: Any): string {
  const ready = items(node.status?.conditions).find((c) => c.type === 'Ready');
  const status = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return node.spec?.unschedulable ? `${status},SchedulingDisabled` : status;
}

function nodeAddress(node: Any, type: string): string {
  return items(node.status?.addresses).find((a) => a.type === type)?.address ?? '<none>';
}

function nodeCells(node: Any, now: number): unknown[] {
  const info = node.status?.nodeInfo ?? {};
  return [
    node.metadata.name,
    nodeStatus(node),
    nodeRoles(node),
    created(node, now),
    info.kubeletVersion ?? '',
    nodeAddress(node, 'InternalIP'),
    nodeAddress(node, 'ExternalIP'),
    info.osImage || '<unknown>',
    info.kernelVersion || '<unknown>',
    info.containerRuntimeVersion || '<unknown>',
  ];
}

export function eventCells(event: Any, now: number): unknown[] {
  // Both forms: core/v1, and events.k8s.io/v1 with its other names for the same fields.
  const began = event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime;
  const ended = event.lastTimestamp ?? event.deprecatedLastTimestamp;
  const first = age(began, now);
  let last = ended ? age(ended, now) : first;
  let count = event.count || event.deprecatedCount || 1;
  if (event.series) {
    last = age(event.series.lastObservedTime, now);
    count = event.series.count ?? 0;
  }
  const target = event.involvedObject ?? event.regarding ?? {};
  const source = event.source ?? event.deprecatedSource;
  const kind = (target.kind ?? '').toLowerCase();
  const component = source?.component || event.reportingComponent || event.reportingController || '';
  const instance = source?.host || event.reportingInstance || '';
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    target.name ? `${kind}/${target.name}` : kind,
    target.fieldPath ?? '',
    instance ? `${component}, ${instance}` : component,
    (event.message ?? event.note ?? '').trim(),
    first,
    count,
    event.metadata.name,
  ];
}

export const EVENT_COLUMNS = 'Last Seen|Type|Reason|Object|+Subobject|+Source|Message|+First Seen|+Count|+Name';

function quotaCells(quota: Any, now: number): unknown[] {
  const columns: Record<'requests' | 'limits', string[]> = { requests: [], limits: [] };
  for (const name of Object.keys(quota.status?.hard ?? {}).sort()) {
    const text = `${name}: ${quota.status.used?.[name] ?? '0'}/${quota.status.hard[name]}`;
    columns[name.startsWith('limits.') ? 'limits' : 'requests'].push(text);
  }
  return [quota.metadata.name, columns.requests.join(', '), columns.limits.join(', '), created(quota, now)];
}

function volumeCells(pv: Any, now: number): unknown[] {
  const claim = pv.spec?.claimRef;
  return [
    pv.metadata.name,
    pv.spec?.capacity?.storage ?? '0',
    accessModes(pv.spec?.accessModes),
    pv.spec?.persistentVolumeReclaimPolicy ?? '',
    pv.metadata.deletionTimestamp ? 'Terminating' : (pv.status?.phase ?? ''),
    claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '',
    storageClass(pv),
    pv.spec?.volumeAttributesClassName ?? '<unset>',
    pv.status?.reason ?? '',
    created(pv, now),
    pv.spec?.volumeMode ?? '<unset>',
  ];
}

function claimCells(pvc: Any, now: number): unknown[] {
  const bound = Boolean(pvc.spec?.volumeName);
  return [
    pvc.metadata.name,
    pvc.metadata.deletionTimestamp ? 'Terminating' : (pvc.status?.phase ?? ''),
    pvc.spec?.volumeName ?? '',
    bound ? (pvc.status?.capacity?.storage ?? '0') : '',
    bound ? accessModes(pvc.status?.accessModes) : '',
    storageClass(pvc),
    pvc.spec?.volumeAttributesClassName ?? '<unset>',
    created(pvc, now),
    pvc.spec?.volumeMode ?? '<unset>',
  ];
}

function componentCells(object: Any): unknown[] {
  const healthy = items(object.conditions).find((c) => c.type === 'Healthy');
  const status = healthy ? (healthy.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown';
  return [object.metadata.name, status, healthy?.message ?? '', healthy?.error ?? ''];
}

const size = (object: Any) => Object.keys(object ?? {}).length;

export const corePrinters: Record<string, Printer> = {
  Pod: podPrinter,
  PodTemplate: printer('Name|Containers|Images|Pod Labels', (o) => [
    o.metadata.name,
    ...containerCells(o.template?.spec),
    formatLabels(o.template?.metadata?.labels),
  ]),
  ReplicationController: printer(
    'Name|Desired:integer|Current:integer|Ready:integer|Age|+Containers|+Images|+Selector',
    (o, now) => [
      o.metadata.name,
      o.spec?.replicas ?? 0,
      o.status?.replicas ?? 0,
      o.status?.readyReplicas ?? 0,
      created(o, now),
      ...containerCells(o.spec?.template?.spec),
      formatLabels(o.spec?.selector),
    ],
  ),
  Service: printer('Name|Type|Cluster-IP|External-IP|Port(s)|Age|+Selector', (o, now) => [
    o.metadata.name,
    o.spec?.type ?? '',
    o.spec?.clusterIPs?.[0] || o.spec?.clusterIP || '<none>',
    externalIP(o),
    servicePorts(o.spec?.ports),
    created(o, now),
    formatLabels(o.spec?.selector),
  ]),
  Endpoints: printer('Name|Endpoints|Age', (o, now) => [o.metadata.name, endpoints(o), created(o, now)]),
  Node: printer(
    'Name|Status|Roles|Age|Version|+Internal-IP|+External-IP|+OS-Image|+Kernel-Version|+Container-Runtime',
    nodeCells,
  ),
  Event: printer(EVENT_COLUMNS, eventCells),
  Namespace: printer('Name|Status|Age', (o, now) => [o.metadata.name, o.status?.phase ?? '', created(o, now)]),
  Secret: printer('Name|Type|Data|Age', (o, now) => [o.metadata.name, o.type ?? '', size(o.data), created(o, now)]),
  ConfigMap: printer('Name|Data|Age', (o, now) => [
    o.metadata.name,
    size(o.data) + size(o.binaryData),
    created(o, now),
  ]),
  ServiceAccount: printer('Name|Age', (o, now) => [o.metadata.name, created(o, now)]),
  PersistentVolume: printer(
    'Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|+VolumeMode',
    volumeCells,
  ),
  PersistentVolumeClaim: printer(
    'Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|+VolumeMode',
    claimCells,
  ),
  ComponentStatus: printer('Name|Status|Message|Error', componentCells),
  ResourceQuota: printer('Name|Request|Limit|Age', quotaCells),
};

/** `kubectl get` for the groups besides core and workloads. */
import type { Printer } from '../../resource.ts';
import { age, humanDuration } from '../duration.ts';
import { type Any, items } from '../fields.ts';
import { EVENT_COLUMNS, eventCells } from './core.ts';
import { storagePrinters } from './storage.ts';
import { created, formatLabelSelector, listWithMore, printer, selectorText } from './table.ts';

function subjects(binding: Any): [string, string, string] {
  const of = (kind: string) => items(binding.subjects).filter((s) => s.kind === kind);
  return [
    of('User')
      .map((s) => s.name)
      .join(', '),
    of('Group')
      .map((s) => s.name)
      .join(', '),
    of('ServiceAccount')
      .map((s) => `${s.namespace ?? ''}/${s.name}`)
      .join(', '),
  ];
}

const bindingPrinter = printer('Name|Role|Age|+Users|+Groups|+ServiceAccounts', (o, now) => [
  o.metadata.name,
  `${o.roleRef?.kind ?? ''}/${o.roleRef?.name ?? ''}`,
  created(o, now),
  ...subjects(o),
]);

const webhookPrinter = printer('Name|Webhooks:integer|Age', (o, now) => [
  o.metadata.name,
  items(o.webhooks).length,
  created(o, now),
]);

function policyPrinter(column: string, list: string): Printer {
  return printer(`Name|${column}:integer|ParamKind|Age`, (o, now) => [
    o.metadata.name,
    items(o.spec?.[list]).length,
    o.spec?.paramKind ? `${o.spec.paramKind.apiVersion}/${o.spec.paramKind.kind}` : '<unset>',
    created(o, now),
  ]);
}

const policyBindingPrinter = printer('Name|PolicyName|ParamRef|Age', (o, now) => {
  const ref = o.spec?.paramRef;
  let param = '<unset>';
  if (ref?.name) param = `${ref.namespace || '*'}/${ref.name}`;
  else if (ref?.selector) param = selectorText(ref.selector);
  return [o.metadata.name, o.spec?.policyName ?? '', param, created(o, now)];
});

function requestStatus(request: Any): string {
  const types = new Set(items(request.status?.conditions).map((c) => c.type));
  let text = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  if (types.has('Failed')) text += ',Failed';
  if (request.status?.certificate) text += ',Issued';
  return text;
}

function hosts(rules: Any[]): string {
  const named = rules.filter((rule) => rule.host).map((rule) => rule.host);
  if (named.length === 0) return '*';
  const shown = named.slice(0, 3).join(',');
  return rules.length > 3 && named.length >= 3 ? `${shown} + ${rules.length - 3} more...` : shown;
}

function ingressAddress(ingress: Any): string {
  const all = items(ingress.status?.loadBalancer?.ingress)
    .map((i) => i.ip || i.hostname)
    .filter(Boolean);
  return [...new Set(all)].sort().join(',');
}

function parameters(reference: Any): string {
  if (!reference) return '<none>';
  const kind = reference.apiGroup ? `${reference.kind}.${reference.apiGroup}` : reference.kind;
  return `${kind}/${reference.name}`;
}

function parentRef(ref: Any): string {
  if (!ref) return '<none>';
  const resource = (ref.group ? `${ref.resource}.${ref.group}` : (ref.resource ?? '')).toLowerCase();
  return [resource, ...(ref.namespace ? [ref.namespace] : []), ref.name].join('/');
}

function claimState(claim: Any): string {
  const states: string[] = [];
  if (claim.metadata.deletionTimestamp) states.push('deleted');
  if (!claim.status?.allocation) {
    if (!claim.metadata.deletionTimestamp) states.push('pending');
  } else {
    states.push('allocated');
    if (items(claim.status.reservedFor).length) states.push('reserved');
  }
  return states.join(',');
}

function priorityLevelCells(o: Any, now: number): unknown[] {
  const limited = o.spec?.limited;
  const queuing = limited?.limitResponse?.queuing;
  return [
    o.metadata.name,
    o.spec?.type ?? '',
    limited?.nominalConcurrencyShares ?? '<none>',
    queuing?.queues ?? '<none>',
    queuing?.handSize ?? '<none>',
    queuing?.queueLengthLimit ?? '<none>',
    created(o, now),
  ];
}

function apiServiceAvailable(o: Any): string {
  const available = items(o.status?.conditions).find((c) => c.type === 'Available');
  if (!available) return 'Unknown';
  return available.status === 'True' || !available.reason
    ? available.status
    : `${available.status} (${available.reason})`;
}

const plain = printer('Name|Age', (o, now) => [o.metadata.name, created(o, now)]);

export const groupPrinters: Record<string, Record<string, Printer>> = {
  'rbac.authorization.k8s.io': { RoleBinding: bindingPrinter, ClusterRoleBinding: bindingPrinter },
  'events.k8s.io': { Event: printer(EVENT_COLUMNS, eventCells) },
  'coordination.k8s.io': {
    Lease: printer('Name|Holder|Age', (o, now) => [o.metadata.name, o.spec?.holderIdentity ?? '', created(o, now)]),
    LeaseCandidate: printer('Name|LeaseName|BinaryVersion|EmulationVersion|Age', (o, now) => [
      o.metadata.name,
      o.spec?.leaseName ?? '',
      o.spec?.binaryVersion ?? '',
      o.spec?.emulationVersion ?? '',
      created(o, now),
    ]),
  },
  'networking.k8s.io': {
    Ingress: printer('Name|Class|Hosts|Address|Ports|Age', (o, now) => [
      o.metadata.name,
      o.spec?.ingressClassName ?? '<none>',
      hosts(items(o.spec?.rules)),
      ingressAddress(o),
      items(o.spec?.tls).length ? '80, 443' : '80',
      created(o, now),
    ]),
    IngressClass: printer('Name|Controller|Parameters|Age', (o, now) => [
      o.metadata.name,
      o.spec?.controller ?? '',
      parameters(o.spec?.parameters),
      created(o, now),
    ]),
    NetworkPolicy: printer('Name|Pod-Selector|Age', (o, now) => [
      o.metadata.name,
      formatLabelSelector(o.spec?.podSelector ?? {}),
      created(o, now),
    ]),
    ServiceCIDR: printer('Name|CIDRs|Age', (o, now) => [
      o.metadata.name,
      items(o.spec?.cidrs).join(','),
      created(o, now),
    ]),
    IPAddress: printer('Name|ParentRef|Age', (o, now) => [
      o.metadata.name,
      parentRef(o.spec?.parentRef),
      created(o, now),
    ]),
  },
  'discovery.k8s.io': {
    EndpointSlice: printer('Name|AddressType|Ports|Endpoints|Age', (o, now) => [
      o.metadata.name,
      o.addressType ?? '',
      listWithMore(
        items(o.ports).map((p) => `${p.port ?? (p.name || '*')}`),
        3,
      ),
      listWithMore(
        items(o.endpoints).flatMap((e) => items(e.addresses)),
        3,
      ),
      created(o, now),
    ]),
  },
  policy: {
    PodDisruptionBudget: printer('Name|Min Available|Max Unavailable|Allowed Disruptions:integer|Age', (o, now) => [
      o.metadata.name,
      `${o.spec?.minAvailable ?? 'N/A'}`,
      `${o.spec?.maxUnavailable ?? 'N/A'}`,
      o.status?.disruptionsAllowed ?? 0,
      created(o, now),
    ]),
  },
  'storage.k8s.io': storagePrinters,
  'scheduling.k8s.io': {
    PriorityClass: printer('Name|Value:integer|Global-Default:boolean|Age|PreemptionPolicy', (o, now) => [
      o.metadata.name,
      o.value ?? 0,
      o.globalDefault ?? false,
      created(o, now),
      o.preemptionPolicy ?? '',
    ]),
  },
  'node.k8s.io': {
    RuntimeClass: printer('Name|Handler|Age', (o, now) => [o.metadata.name, o.handler ?? '', created(o, now)]),
  },
  'certificates.k8s.io': {
    CertificateSigningRequest: printer('Name|Age|SignerName|Requestor|RequestedDuration|Condition', (o, now) => [
      o.metadata.name,
      created(o, now),
      o.spec?.signerName || '<none>',
      o.spec?.username ?? '',
      o.spec?.expirationSeconds !== undefined ? humanDuration(o.spec.expirationSeconds * 1000) : '<none>',
      requestStatus(o),
    ]),
    ClusterTrustBundle: printer('Name|SignerName', (o) => [o.metadata.name, o.spec?.signerName || '<none>']),
  },
  'admissionregistration.k8s.io': {
    MutatingWebhookConfiguration: webhookPrinter,
    ValidatingWebhookConfiguration: webhookPrinter,
    ValidatingAdmissionPolicy: policyPrinter('Validations', 'validations'),
    MutatingAdmissionPolicy: policyPrinter('Mutations', 'mutations'),
    ValidatingAdmissionPolicyBinding: policyBindingPrinter,
    MutatingAdmissionPolicyBinding: policyBindingPrinter,
  },
  'flowcontrol.apiserver.k8s.io': {
    FlowSchema: printer('Name|PriorityLevel|MatchingPrecedence|DistinguisherMethod|Age|MissingPL', (o, now) => [
      o.metadata.name,
      o.spec?.priorityLevelConfiguration?.name ?? '',
      o.spec?.matchingPrecedence ?? 0,
      o.spec?.distinguisherMethod?.type ?? '<none>',
      created(o, now),
      items(o.status?.conditions).find((c) => c.type === 'Dangling')?.status ?? '?',
    ]),
    PriorityLevelConfiguration: printer(
      'Name|Type|NominalConcurrencyShares|Queues|HandSize|QueueLengthLimit|Age',
      priorityLevelCells,
    ),
  },
  'resource.k8s.io': {
    DeviceClass: plain,
    ResourceClaimTemplate: plain,
    ResourceClaim: printer('Name|State|Age', (o, now) => [o.metadata.name, claimState(o), created(o, now)]),
    ResourceSlice: printer('Name|Node|Driver|Pool|Age', (o, now) => [
      o.metadata.name,
      o.spec?.nodeName ?? '',
      o.spec?.driver ?? '',
      o.spec?.pool?.name ?? '',
      created(o, now),
    ]),
    DeviceTaintRule: printer('Name|Key|Value|Effect|TimeAdded|Age', (o, now) => [
      o.metadata.name,
      o.spec?.taint?.key ?? '',
      o.spec?.taint?.value ?? '',
      o.spec?.taint?.effect ?? '',
      o.spec?.taint?.timeAdded ? age(o.spec.taint.timeAdded, now) : '',
      created(o, now),
    ]),
  },
  'apiregistration.k8s.io': {
    APIService: printer('Name|Service|Available|Age', (o, now) => [
      o.metadata.name,
      o.spec?.service ? `${o.spec.service.namespace}/${o.spec.service.name}` : 'Local',
      apiServiceAvailable(o),
      created(o, now),
    ]),
  },
};

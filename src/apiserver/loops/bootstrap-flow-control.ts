/**
 * Priority levels and flow schemas of a fresh 1.35 cluster. ../fairness/ honours them; administrators edit them.
 */
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import { dangling } from './flow-schema-status.ts';

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';
const EVERYONE = ['Group system:unauthenticated', 'Group system:authenticated'];
const NODES = ['Group system:nodes'];
const KUBE_SYSTEM = ['ServiceAccount *'];

/** name → shares, lendable percent, and queues × hand size (absent: refuse rather than queue). */
const LEVELS: Record<string, { shares: number; lendable: number; queues?: number; hand?: number }> = {
  'catch-all': { shares: 5, lendable: 0 },
  system: { shares: 30, lendable: 33, queues: 64, hand: 6 },
  'node-high': { shares: 40, lendable: 25, queues: 64, hand: 6 },
  'leader-election': { shares: 10, lendable: 0, queues: 16, hand: 4 },
  'workload-high': { shares: 40, lendable: 50, queues: 128, hand: 6 },
  'workload-low': { shares: 100, lendable: 90, queues: 128, hand: 6 },
  'global-default': { shares: 20, lendable: 50, queues: 128, hand: 6 },
};

interface Schema {
  name: string;
  level: string;
  precedence: number;
  by?: 'ByUser' | 'ByNamespace';
  subjects: string[];
  /** `verbs groups resources`, with `cluster` at the end where cluster-scoped requests count. Default: everything. */
  resources?: string[];
  paths?: string[];
}

const SCHEMAS: Schema[] = [
  { name: 'exempt', level: 'exempt', precedence: 1, subjects: ['Group system:masters'] },
  {
    name: 'probes',
    level: 'exempt',
    precedence: 2,
    subjects: EVERYONE,
    resources: [],
    paths: ['/healthz', '/readyz', '/livez'],
  },
  {
    name: 'system-leader-election',
    level: 'leader-election',
    precedence: 100,
    by: 'ByUser',
    subjects: ['User system:kube-controller-manager', 'User system:kube-scheduler', ...KUBE_SYSTEM],
    resources: ['get,create,update coordination.k8s.io leases'],
    paths: [],
  },
  {
    name: 'system-node-high',
    level: 'node-high',
    precedence: 400,
    by: 'ByUser',
    subjects: NODES,
    resources: ['* core nodes,nodes/status cluster', '* coordination.k8s.io leases'],
    paths: [],
  },
  { name: 'system-nodes', level: 'system', precedence: 500, by: 'ByUser', subjects: NODES },
  workload('kube-controller-manager', 800, ['User system:kube-controller-manager']),
  workload('kube-scheduler', 800, ['User system:kube-scheduler']),
  workload('kube-system-service-accounts', 900, KUBE_SYSTEM),
  {
    name: 'service-accounts',
    level: 'workload-low',
    precedence: 9000,
    by: 'ByUser',
    subjects: ['Group system:serviceaccounts'],
  },
  { name: 'global-default', level: 'global-default', precedence: 9900, by: 'ByUser', subjects: EVERYONE },
  { name: 'catch-all', level: 'catch-all', precedence: 10000, by: 'ByUser', subjects: EVERYONE },
];

export function bootstrapFlowControl(now: number): KubeObject[] {
  const exempt = { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } };
  return [
    object('PriorityLevelConfiguration', 'exempt', exempt),
    ...Object.entries(LEVELS).map(([name, level]) => object('PriorityLevelConfiguration', name, levelSpec(level))),
    ...SCHEMAS.map((schema) => ({
      ...object('FlowSchema', schema.name, schemaSpec(schema)),
      status: { conditions: [{ ...dangling(schema.level, true), lastTransitionTime: rfc3339(now) }] },
    })),
  ];
}

function workload(name: string, precedence: number, subjects: string[]): Schema {
  return { name, level: 'workload-high', precedence, by: 'ByNamespace', subjects };
}

function object(kind: string, name: string, spec: object): KubeObject {
  const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' };
  return { apiVersion: API_VERSION, kind, metadata: { name, generation: 1, annotations }, spec };
}

function levelSpec({ shares, lendable, queues, hand }: (typeof LEVELS)[string]): object {
  const limitResponse = queues
    ? { type: 'Queue', queuing: { queues, handSize: hand, queueLengthLimit: 50 } }
    : { type: 'Reject' };
  return { type: 'Limited', limited: { nominalConcurrencyShares: shares, lendablePercent: lendable, limitResponse } };
}

function schemaSpec({ level, precedence, by, subjects, resources = ['* * * cluster'], paths = ['*'] }: Schema): object {
  const resourceRules = resources.map(resourceRule);
  const verbs = paths.includes('*') ? ['*'] : ['get'];
  return {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(by ? { distinguisherMethod: { type: by } } : {}),
    rules: [
      {
        subjects: subjects.map(subject),
        ...(resourceRules.length ? { resourceRules } : {}),
        ...(paths.length ? { nonResourceRules: [{ verbs, nonResourceURLs: paths }] } : {}),
      },
    ],
  };
}

function resourceRule(text: string): object {
  const [verbs = '', group = '', resources = '', cluster] = text.split(' ');
  return {
    verbs: verbs.split(','),
    apiGroups: [group === 'core' ? '' : group],
    resources: resources.split(','),
    ...(cluster ? { clusterScope: true } : {}),
    namespaces: ['*'],
  };
}

function subject(text: string): object {
  const [kind = '', name = ''] = text.split(' ');
  if (kind === 'User') return { kind, user: { name } };
  if (kind === 'Group') return { kind, group: { name } };
  return { kind, serviceAccount: { namespace: 'kube-system', name } };
}

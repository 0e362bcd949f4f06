// What of an object two cores have to agree on, with everything left out that differs from run to run.
import type { Condition, KubeObject } from '../../../src/api/object.ts';

export interface Snapshot {
  phase?: string;
  conditions?: string[];
  owners: string[];
  finalizers: string[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  status: Record<string, unknown>;
  spec: Record<string, unknown>;
}

/** Fields of status and spec that are compared as they are. */
const STATUS = [
  'initialization',
  'failureDomains',
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'upToDateReplicas',
  'versions',
  'controlPlane',
  'workers',
  'addresses',
  'expectedMachines',
  'currentHealthy',
  'remediationsAllowed',
];
const SPEC = ['controlPlaneEndpoint', 'replicas', 'version', 'clusterName', 'deletion', 'taints'];

export function snapshot(object: KubeObject): Snapshot {
  const { metadata, status = {}, spec = {} } = object;
  return {
    ...(status.phase ? { phase: status.phase } : {}),
    ...(status.conditions?.length && object.kind !== 'Node' ? { conditions: conditionsOf(status.conditions) } : {}),
    owners: (metadata.ownerReferences ?? []).map((owner) => {
      const flags = `${owner.controller ? ' controller' : ''}${owner.blockOwnerDeletion ? ' blocking' : ''}`;
      return `${owner.kind} ${plain(owner.name)}${flags}`;
    }),
    finalizers: metadata.finalizers ?? [],
    labels: texts(metadata.labels),
    annotations: texts(metadata.annotations),
    // What a node says of itself is not the core's.
    status: object.kind === 'Node' ? {} : pick(status, STATUS),
    spec: withoutPort(pick(spec, SPEC)),
  };
}

function conditionsOf(conditions: Condition[]): string[] {
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`).sort();
}

function texts(map: Record<string, string> = {}): Record<string, string> {
  const entries = Object.entries(map).map(([key, value]) => [key, plain(value)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pick(from: Record<string, unknown>, fields: string[]): Record<string, unknown> {
  const known = fields.filter((field) => from[field] !== undefined);
  return Object.fromEntries(known.map((field) => [field, from[field]]));
}

/** Any free one. */
function withoutPort(spec: Record<string, unknown>): Record<string, unknown> {
  const endpoint = spec.controlPlaneEndpoint as { host: string } | undefined;
  return endpoint ? { ...spec, controlPlaneEndpoint: { ...endpoint, port: '<port>' } } : spec;
}

/** Random parts of names and hashes are told apart by nobody. */
export function plain(text: string): string {
  return text
    .replace(/\d{6,}-[bcdfghjklmnpqrstvwxz2456789]{5}/g, '<hash>')
    .replace(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=-|$)/g, '-<random>');
}

/** What a virtual cluster is given besides its API: nodes and a default storage class. */
import type { KubeObject } from '../../../api/object.ts';
import { type Cluster, LOOPBACK } from '../../../apiserver/index.ts';
import { hasReason } from '../../../apiserver/loops/loop.ts';
import { rfc3339 } from '../../../clock.ts';
import type { TenantShape } from '../tenants.ts';
import { blockOf, type NodeRole, nodeStatus, podCidr, simulatedNode } from './nodes/simulated-node.ts';
import { NODES } from './pod.ts';

/** How many nodes of a role the tenant was given last; what people did to them since is their business. */
const MARKS: Record<NodeRole, string> = { 'control-plane': 'control-planes', node: 'nodes' };
/** What a snapshot has to take along, to be furnished again as it was. */
export const FURNISHED: readonly string[] = Object.values(MARKS);
const BATCH = 100;
const OPTIONS = { identity: LOOPBACK, fieldManager: 'rookery' };

const STORAGE_CLASS: KubeObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: 'standard',
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true', 'rookery.dev/fidelity': 'simulated' },
  },
  provisioner: 'rookery.dev/simulated',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
};

/** Idempotent: a crash in the middle is finished by the next call. */
export async function furnish(cluster: Cluster, { controlPlanes, nodes }: TenantShape): Promise<void> {
  const isNew = cluster.store.meta.get(MARKS.node) === undefined;
  if (isNew) await create(cluster, 'storage.k8s.io', 'storageclasses', structuredClone(STORAGE_CLASS));
  await give(cluster, 'control-plane', controlPlanes);
  await give(cluster, 'node', nodes);
}

async function give(cluster: Cluster, role: NodeRole, count: number): Promise<void> {
  const { meta } = cluster.store;
  const before = Number(meta.get(MARKS[role]) ?? 0);
  if (before === count && meta.get(MARKS[role]) !== undefined) return;
  let block = before < count ? nextBlock(cluster) : 0;
  for (let first = before; first < count; first += BATCH) {
    const indexes = Array.from({ length: Math.min(BATCH, count - first) }, (_, i) => first + i);
    await Promise.all(indexes.map((index) => create(cluster, '', 'nodes', readyNode(cluster, role, index, block++))));
  }
  const resource = served(cluster, '', 'nodes');
  for (let index = count; index < before; index++) {
    const { name = '' } = simulatedNode(cluster.name, role, index).metadata;
    await cluster.operations.delete(resource, '', name, {}, OPTIONS).catch((error) => {
      if (!hasReason(error, 'NotFound')) throw error;
    });
  }
  meta.set(MARKS[role], String(count));
}

/** After a crash it may be there already. */
async function create(cluster: Cluster, group: string, plural: string, object: KubeObject): Promise<void> {
  await cluster.operations.create(served(cluster, group, plural), '', object, OPTIONS).catch((error) => {
    if (!hasReason(error, 'AlreadyExists')) throw error;
  });
}

function served({ registry }: Cluster, group: string, plural: string) {
  const resource = registry.find(group, 'v1', plural);
  if (!resource) throw new Error(`${plural} are not served`);
  return resource;
}

/** The first range of addresses that no node has. */
function nextBlock({ store }: Cluster): number {
  const blocks = store.list({ resource: NODES }).items.map((stored) => blockOf(stored.object().spec?.podCIDR));
  return Math.max(-1, ...blocks) + 1;
}

/** Born ready: what the node's life cycle would write in three steps is in the first one. */
function readyNode({ name, clock }: Cluster, role: NodeRole, index: number, block: number): KubeObject {
  const node = simulatedNode(name, role, index);
  node.spec = { ...node.spec, podCIDR: podCidr(block), podCIDRs: [podCidr(block)] };
  node.status = nodeStatus(node, block, rfc3339(clock.now()));
  return node;
}

/** What a virtual cluster is given besides its API: nodes and a default storage class. */
import type { KubeObject } from '../../../api/object.ts';
import { type Cluster, LOOPBACK } from '../../../apiserver/index.ts';
import { hasReason } from '../../../apiserver/loops/loop.ts';
import { rfc3339 } from '../../../clock.ts';
import { nodeStatus, podCidr, simulatedNode } from './nodes/simulated-node.ts';

/** How many nodes the tenant was given last; what people did to them since is their business. */
const MARK = 'nodes';
const BATCH = 100;

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
export async function furnish(cluster: Cluster, nodes: number): Promise<void> {
  const { store, operations, registry } = cluster;
  const before = store.meta.get(MARK);
  if (before === String(nodes)) return;
  const options = { identity: LOOPBACK, fieldManager: 'rookery' };
  const resource = registry.find('', 'v1', 'nodes');
  const classes = registry.find('storage.k8s.io', 'v1', 'storageclasses');
  if (!resource || !classes) throw new Error('nodes and storage classes are not served');
  const exists = (error: unknown) => {
    if (!hasReason(error, 'AlreadyExists')) throw error;
  };
  if (before === undefined) await operations.create(classes, '', structuredClone(STORAGE_CLASS), options).catch(exists);
  for (let first = Number(before ?? 0); first < nodes; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, nodes - first) }, (_, i) => readyNode(cluster, first + i));
    await Promise.all(batch.map((node) => operations.create(resource, '', node, options).catch(exists)));
  }
  for (let index = nodes; index < Number(before ?? 0); index++) {
    const { name = '' } = simulatedNode(cluster.name, index).metadata;
    await operations.delete(resource, '', name, {}, options).catch((error) => {
      if (!hasReason(error, 'NotFound')) throw error;
    });
  }
  store.meta.set(MARK, String(nodes));
}

/** Born ready: what the node's life cycle would write in three steps is in the first one. */
function readyNode({ name, clock }: Cluster, index: number): KubeObject {
  const node = simulatedNode(name, index);
  node.spec = { podCIDR: podCidr(index), podCIDRs: [podCidr(index)] };
  node.status = nodeStatus(node, index, rfc3339(clock.now()));
  return node;
}

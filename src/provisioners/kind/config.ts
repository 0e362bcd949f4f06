/** The configuration file kind is given, from the spec of a KINDCluster. Pure: the same spec gives the same text. */
import type { KindCluster } from '../../api/infrastructure/kind-cluster.ts';
import type { ClusterShape } from '../docker-cluster/cluster-tool.ts';
import { fingerprintOf } from '../docker-cluster/fingerprint.ts';

export type KindSpec = KindCluster['spec'];
type KindNode = NonNullable<KindSpec['nodes']>[number];

/** Several control planes come with a load balancer container. */
export function shapeOf(spec: KindSpec): ClusterShape {
  const nodes = nodesOf(spec);
  const controlPlanes = nodes.filter((node) => node.role === 'control-plane').length;
  return {
    nodes: nodes.length,
    controlPlanes,
    containers: nodes.length + (controlPlanes > 1 ? 1 : 0),
    hasNetwork: !spec.networking?.disableDefaultCNI,
  };
}

/** What kind calls the containers of a cluster. */
export function containerNames(cluster: string, shape: Pick<ClusterShape, 'nodes' | 'controlPlanes'>): string[] {
  const numbered = (role: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${cluster}-${role}${index === 0 ? '' : index + 1}`);
  return [
    ...numbered('control-plane', shape.controlPlanes),
    ...numbered('worker', shape.nodes - shape.controlPlanes),
    ...(shape.controlPlanes > 1 ? [`${cluster}-external-load-balancer`] : []),
  ];
}

/** Where kind's own `--internal` kubeconfig points: the first control plane, or what stands before several. */
export function internalServer(cluster: string, spec: KindSpec): string {
  const host = shapeOf(spec).controlPlanes > 1 ? 'external-load-balancer' : 'control-plane';
  return `https://${cluster}-${host}:6443`;
}

/** JSON, which is YAML too. `mark` is mounted into every node: containers of kind cannot be labelled. */
export function kindConfig(
  spec: KindSpec,
  options: { name: string; image: string; mark: { hostPath: string; containerPath: string } },
): string {
  const mount = { ...options.mark, readOnly: true };
  return JSON.stringify(
    {
      kind: 'Cluster',
      apiVersion: 'kind.x-k8s.io/v1alpha4',
      name: options.name,
      // A cluster that is made again keeps the address its users know.
      networking: { apiServerPort: spec.controlPlaneEndpoint?.port, ...spec.networking },
      featureGates: spec.featureGates,
      runtimeConfig: spec.runtimeConfig,
      kubeadmConfigPatches: spec.kubeadmConfigPatches,
      containerdConfigPatches: spec.containerdConfigPatches,
      nodes: nodesOf(spec).map((node) => ({
        ...node,
        image: node.image ?? options.image,
        extraMounts: [...(node.extraMounts ?? []), mount],
      })),
    },
    null,
    2,
  );
}

/** Changes when something changes that only a new cluster can have. */
export function fingerprint(spec: KindSpec): string {
  const { controlPlaneEndpoint: _, clusterName: __, ...rest } = spec;
  const nodes = nodesOf(spec);
  const { nodes: ___, controlPlaneNodes: ____, workerNodes: _____, ...others } = rest;
  return fingerprintOf({ ...others, nodes });
}

function nodesOf(spec: KindSpec): KindNode[] {
  if (spec.nodes) return spec.nodes.map((node) => ({ ...node, role: node.role ?? 'worker' }));
  const { controlPlaneNodes = 1, workerNodes = 0 } = spec;
  return [
    ...Array.from({ length: controlPlaneNodes }, () => ({ role: 'control-plane' as const })),
    ...Array.from({ length: workerNodes }, () => ({ role: 'worker' as const })),
  ];
}

export const group = 'infrastructure.cluster.x-k8s.io';

/** The smallest infrastructure provider there can be: a kind that follows the contract, played by the test itself. */
export const nestClusters = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `nestclusters.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1alpha1' } },
  spec: {
    group,
    scope: 'Namespaced',
    names: {
      kind: 'NestCluster',
      listKind: 'NestClusterList',
      plural: 'nestclusters',
      singular: 'nestcluster',
      categories: ['cluster-api'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

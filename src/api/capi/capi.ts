/** What all kinds of the Cluster API core share. */
export const CAPI = {
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  categories: ['cluster-api', 'rookery'],
  scope: 'Namespaced' as const,
  // The second label tells these CRDs from upstream's: where those are installed, upstream's core does the work.
  labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta2', 'rookery.dev/core': 'rookery' },
};

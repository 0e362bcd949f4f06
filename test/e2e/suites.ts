// Every suite and the parts of the bed it needs: from this table follow what is built, what is run and what is named as
// not run. Order is the order in which parts become available on a cold machine.

export interface Suite {
  readonly name: string;
  readonly about: string;
  /** Parts of the bed without which it cannot run. */
  readonly parts: readonly string[];
  /** Takes minutes and seldom finds anything new: runs when it is named, or with E2E_FULL=1. */
  readonly full?: boolean;
}

export const suites: readonly Suite[] = [
  { name: 'kube-apiserver', about: 'a bare API server on etcd', parts: ['kubernetes', 'etcd'] },
  { name: 'object-store', about: 'our object store and informers against it', parts: ['kubernetes', 'etcd'] },
  {
    name: 'controller-manager',
    about: 'the unmodified kube-controller-manager on our API server',
    parts: ['kubernetes'],
  },
  {
    name: 'client-go',
    about: 'an informer of client-go on our API server, killed and back',
    parts: ['informer', 'kubernetes'],
  },
  {
    name: 'oracle',
    about: '50,000 random cases of apply, patches, custom resources and CEL, judged by upstream’s libraries',
    parts: ['oracle'],
  },
  { name: 'attack', about: 'every attack of `make attack` but floods, which measure time', parts: [] },
  { name: 'helm', about: 'helm and a chart with hooks on a virtual cluster', parts: ['helm', 'kubernetes'] },
  {
    name: 'kind',
    about: 'kind: create, a pod, DNS, delete; in a full run with a worker, network and volume',
    parts: ['kind-cli', 'node-image'],
  },
  {
    name: 'provisioner-kind',
    about: 'Rookery and kind: the suite of all provisioners, KINDCluster, kill -9, nothing left',
    parts: ['kind-cli', 'node-image', 'kubernetes'],
  },
  {
    name: 'kind-ha',
    about: 'Rookery and kind with three control planes: one stops, the API answers',
    parts: ['kind-cli', 'node-image', 'kind-balancer-image', 'kubernetes'],
    full: true,
  },
  {
    name: 'crash-kind',
    about: 'Rookery killed 20 times while it makes and 20 while it deletes kind clusters',
    parts: ['kind-cli', 'node-image', 'kubernetes'],
    full: true,
  },
  { name: 'kubeadm', about: 'kubeadm on two machines: network, DNS, volume', parts: ['node-image'] },
  { name: 'k3s', about: 'k3s in a container', parts: ['k3s-image', 'kubernetes'] },
  {
    name: 'provisioner-k3s',
    about: 'Rookery and k3s on machines: over SSH by systemd, as local root without; kill -9, nothing left',
    parts: ['k3s-image', 'kubernetes'],
  },
  {
    name: 'crash-k3s',
    about: 'Rookery killed 20 times while it makes and 20 while it deletes k3s clusters over SSH',
    parts: ['k3s-image', 'kubernetes'],
    full: true,
  },
  {
    name: 'k3s-upgrade',
    about: 'Rookery brings a k3s over SSH to the next release: its pods go on, no way back, kill -9, nothing left',
    parts: ['k3s-image', 'kubernetes', 'k3s-upgrade-from', 'k3s-upgrade-to', 'k3s-upgrade-images'],
    full: true,
  },
  { name: 'k3d', about: 'k3d: server and agent, stop and start', parts: ['k3d-cli', 'k3s-image', 'kubernetes'] },
  {
    name: 'provisioner-k3d',
    about: 'Rookery and k3d: the suite of all provisioners, K3dCluster, kill -9, nothing left',
    parts: ['k3d-cli', 'k3s-image', 'k3d-proxy-image', 'kubernetes'],
  },
  {
    name: 'crash-k3d',
    about: 'Rookery killed 20 times while it makes and 20 while it deletes k3d clusters',
    parts: ['k3d-cli', 'k3s-image', 'kubernetes'],
    full: true,
  },
  {
    name: 'k3d-ha',
    about: 'Rookery and k3d with three servers: one stops, the API answers; suspended and resumed',
    parts: ['k3d-cli', 'k3s-image', 'k3d-proxy-image', 'kubernetes'],
    full: true,
  },
  {
    name: 'cluster-api',
    about: 'upstream Cluster API core on a bare API server',
    parts: ['cluster-api', 'kubernetes', 'etcd'],
  },
  {
    name: 'upstream-on-ours',
    about: 'upstream Cluster API core with its webhooks and conversions on our API server',
    parts: ['cluster-api', 'kubernetes'],
  },
  {
    name: 'upstream-core',
    about: 'upstream Cluster API core drives VirtualCluster, KINDCluster and K3dCluster; two managers, kill -9, pause',
    parts: ['cluster-api', 'kubernetes', 'etcd', 'kind-cli', 'node-image', 'k3d-cli', 'k3s-image'],
  },
  {
    name: 'capi-core',
    about: 'upstream’s core lives the story that ours has to live, and what it says is recorded',
    parts: ['cluster-api', 'kubernetes', 'etcd'],
    // `make test` judges ours by the record; upstream says something else only when its version changes.
    full: true,
  },
  { name: 'vcluster', about: 'a vcluster in a k3d cluster', parts: ['vcluster-images', 'k3d-cli', 'k3s-image'] },
  { name: 'vcluster-objects', about: 'our objects of a vcluster against its chart', parts: ['vcluster', 'helm'] },
  {
    name: 'provisioner-vcluster',
    about: 'Rookery and vcluster: the suite of all provisioners, VCluster, nothing left in the host',
    parts: ['vcluster-images', 'vcluster', 'helm', 'kind-cli', 'node-image', 'kubernetes'],
  },
  {
    name: 'previous-minor',
    about: 'the older Kubernetes from which upgrades start',
    parts: ['kind-cli', 'node-image-previous', 'kubernetes'],
  },
  { name: 'workspace', about: 'the image of a student’s shell', parts: ['workspace-image', 'docker'] },
  { name: 'workloads', about: 'workspaces as containers', parts: ['workspace-image', 'docker'] },
  {
    name: 'workspaces',
    about: 'a workshop with a k3d cluster for each student, in a real browser',
    parts: ['workspace-image', 'k3d-cli', 'k3s-image', 'k3d-proxy-image', 'kubernetes', 'chromium'],
  },
  { name: 'services', about: 'Redis, and a machine over ssh', parts: ['services', 'node-image'] },
];

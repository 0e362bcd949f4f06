/** Labels, annotations and finalizers that Cluster API gives a meaning to; spelt as upstream spells them. */
const CAPI = 'cluster.x-k8s.io';

export const LABEL = {
  clusterName: `${CAPI}/cluster-name`,
  controlPlane: `${CAPI}/control-plane`,
  controlPlaneName: `${CAPI}/control-plane-name`,
  setName: `${CAPI}/set-name`,
  deploymentName: `${CAPI}/deployment-name`,
  poolName: `${CAPI}/pool-name`,
  templateHash: 'machine-template-hash',
  interruptible: `${CAPI}/interruptible`,
  drain: `${CAPI}/drain`,
  provider: `${CAPI}/provider`,
} as const;

export const ANNOTATION = {
  clusterName: `${CAPI}/cluster-name`,
  clusterNamespace: `${CAPI}/cluster-namespace`,
  machine: `${CAPI}/machine`,
  ownerKind: `${CAPI}/owner-kind`,
  ownerName: `${CAPI}/owner-name`,
  labelsFromMachine: `${CAPI}/labels-from-machine`,
  annotationsFromMachine: `${CAPI}/annotations-from-machine`,
  taintsFromMachine: `${CAPI}/taints-from-machine`,
  clonedFromName: `${CAPI}/cloned-from-name`,
  clonedFromGroupKind: `${CAPI}/cloned-from-groupkind`,
  deleteMachine: `${CAPI}/delete-machine`,
  disableMachineCreate: `${CAPI}/disable-machine-create`,
  remediateMachine: `${CAPI}/remediate-machine`,
  skipRemediation: `${CAPI}/skip-remediation`,
  skipPreflight: 'machineset.cluster.x-k8s.io/skip-preflight-checks',
  excludeDraining: 'machine.cluster.x-k8s.io/exclude-node-draining',
  excludeVolumeDetach: 'machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach',
  certificatesExpiry: 'machine.cluster.x-k8s.io/certificates-expiry',
  /** With "clusters", as upstream has it. */
  revision: 'machinedeployment.clusters.x-k8s.io/revision',
  revisionHistory: 'machinedeployment.clusters.x-k8s.io/revision-history',
  desiredReplicas: 'machinedeployment.clusters.x-k8s.io/desired-replicas',
  maxReplicas: 'machinedeployment.clusters.x-k8s.io/max-replicas',
  autoscalerMin: `${CAPI}/cluster-api-autoscaler-node-group-min-size`,
  autoscalerMax: `${CAPI}/cluster-api-autoscaler-node-group-max-size`,
} as const;

export const HOOK = {
  preDrain: 'pre-drain.delete.hook.machine.cluster.x-k8s.io',
  preTerminate: 'pre-terminate.delete.hook.machine.cluster.x-k8s.io',
} as const;

export const FINALIZER = {
  cluster: 'cluster.cluster.x-k8s.io',
  machine: 'machine.cluster.x-k8s.io',
  machineSet: 'cluster.x-k8s.io/machineset',
  machineDeployment: 'cluster.x-k8s.io/machinedeployment',
} as const;

/** Who applies what by server-side apply. */
export const MANAGER = {
  machineSet: 'capi-machineset',
  /** Labels and annotations that follow the template, apart from what is given once at birth. */
  machineSetMetadata: 'capi-machineset-metadata',
  machineDeployment: 'capi-machinedeployment',
} as const;

export const TAINT = {
  uninitialized: { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' },
  outdatedRevision: { key: 'node.cluster.x-k8s.io/outdated-revision', effect: 'PreferNoSchedule' },
} as const;

/** On the CRD of a kind whose controller probes its clusters by itself: its `Available` is as good as our own probe. */
export const REPORTS_CONNECTION_LABEL = 'rookery.dev/reports-connection';
/** On the CRDs of Cluster API that came with us; upstream's do not have it. */
export const OUR_CORE_LABEL = 'rookery.dev/core';

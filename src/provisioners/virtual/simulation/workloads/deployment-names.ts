/** Names that the files about Deployments share. */
export const DEPLOYMENTS = 'apps/deployments';
export const REPLICA_SETS = 'apps/replicasets';
export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED = 'deployment.kubernetes.io/desired-replicas';
export const MAX = 'deployment.kubernetes.io/max-replicas';
export const COMPONENT = 'deployment-controller';

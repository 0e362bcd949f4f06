/**
 * The kinds users write. One schema per kind (zod) gives the TypeScript type, the CustomResourceDefinition and the
 * reference page; names alone, without the schema library, are in `resources.ts`.
 */
export type { Cluster } from './capi/cluster.ts';
export type { Machine } from './capi/machine.ts';
export type { MachineDeployment } from './capi/machine-deployment.ts';
export type { MachineHealthCheck } from './capi/machine-health-check.ts';
export type { MachineSet } from './capi/machine-set.ts';
export { crdOf } from './crd.ts';
export type { KindCluster } from './infrastructure/kind-cluster.ts';
export type { VirtualCluster } from './infrastructure/virtual-cluster.ts';
export type { KindDefinition, ObjectOf } from './kind.ts';
export { kinds } from './kinds.ts';
export type * from './object.ts';
export * from './resources.ts';
export type { ClusterJob } from './rookery/cluster-job.ts';
export type { WorkspaceInstance } from './workshop/workspace-instance.ts';
export type { WorkspaceTemplate } from './workshop/workspace-template.ts';

/** All kinds, in the order people read about them. */
import { cluster } from './capi/cluster.ts';
import { machine } from './capi/machine.ts';
import { machineDeployment } from './capi/machine-deployment.ts';
import { machineHealthCheck } from './capi/machine-health-check.ts';
import { machineSet } from './capi/machine-set.ts';
import { k3dCluster } from './infrastructure/k3d-cluster.ts';
import { k3sCluster } from './infrastructure/k3s-cluster.ts';
import { kindCluster } from './infrastructure/kind-cluster.ts';
import { vcluster } from './infrastructure/vcluster.ts';
import { virtualCluster } from './infrastructure/virtual-cluster.ts';
import type { KindDefinition } from './kind.ts';
import { clusterJob } from './rookery/cluster-job.ts';
import { workspaceInstance } from './workshop/workspace-instance.ts';
import { workspaceTemplate } from './workshop/workspace-template.ts';

export const kinds: KindDefinition[] = [
  cluster,
  virtualCluster,
  kindCluster,
  k3dCluster,
  k3sCluster,
  vcluster,
  workspaceTemplate,
  workspaceInstance,
  clusterJob,
  machine,
  machineSet,
  machineDeployment,
  machineHealthCheck,
];

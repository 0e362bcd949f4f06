/**
 * What makes a tenant of the embedded server behave like a cluster: nodes that nobody runs, a scheduler, kubelets without
 * containers, and the controllers of kube-controller-manager. It works on the tenant's own objects through the same
 * road as everyone else, promises what a user of kubectl can observe, and never runs anything.
 */
import type { Loop } from '../../../apiserver/loops/loop.ts';
import type { Controller } from './controller.ts';
import { disruption } from './disruption.ts';
import { kubelet } from './kubelet/kubelet.ts';
import { podGc, taintEviction } from './nodes/eviction.ts';
import { nodeLifecycle } from './nodes/node-lifecycle.ts';
import { resourceQuotas } from './quota.ts';
import { scheduler } from './scheduler/scheduler.ts';
import { endpointMirroring } from './services/endpoint-mirroring.ts';
import { endpointSlices } from './services/endpoint-slices.ts';
import { endpoints } from './services/endpoints.ts';
import { simulate } from './simulation.ts';
import { volumeBinder } from './storage/volume-binder.ts';
import { volumePhase } from './storage/volume-phase.ts';
import { claimProtection, classProtection, volumeProtection } from './storage/volume-protection.ts';
import { cronJobs } from './workloads/cron-job.ts';
import { daemonSets } from './workloads/daemon-set.ts';
import { deployments } from './workloads/deployment.ts';
import { jobs } from './workloads/job.ts';
import { replicaSets, replicationControllers } from './workloads/replica-set.ts';
import { statefulSets } from './workloads/stateful-set.ts';

const CONTROLLERS: Controller[] = [
  nodeLifecycle,
  taintEviction,
  podGc,
  scheduler,
  kubelet,
  replicaSets,
  replicationControllers,
  deployments,
  statefulSets,
  daemonSets,
  jobs,
  cronJobs,
  endpoints,
  endpointSlices,
  endpointMirroring,
  volumeBinder,
  volumePhase,
  claimProtection,
  volumeProtection,
  classProtection,
  disruption,
  resourceQuotas,
];

export const simulation: Loop = simulate(CONTROLLERS);

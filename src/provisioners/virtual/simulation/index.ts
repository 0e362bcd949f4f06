/**
 * What makes a tenant of the embedded server behave like a cluster: nodes that nobody runs, a scheduler, kubelets without
 * containers, and the controllers of kube-controller-manager. It works on the tenant's own objects through the same
 * road as everyone else, promises what a user of kubectl can observe, and never runs anything.
 */
import type { Loop } from '../../../apiserver/loops/loop.ts';
import type { Controller } from './controller.ts';
import { kubelet } from './kubelet/kubelet.ts';
import { nodeLifecycle } from './nodes/node-lifecycle.ts';
import { scheduler } from './scheduler/scheduler.ts';
import { simulate } from './simulation.ts';
import { deployments } from './workloads/deployment.ts';
import { replicaSets, replicationControllers } from './workloads/replica-set.ts';

export const CONTROLLERS: Controller[] = [
  nodeLifecycle,
  scheduler,
  kubelet,
  replicaSets,
  replicationControllers,
  deployments,
];

export const simulation: Loop = simulate(CONTROLLERS);

import { z } from 'zod';
import { intOrString, time } from '../fields.ts';
import { defineKind, type ObjectOf } from '../kind.ts';
import { CAPI } from './capi.ts';
import { poolExample, poolScale, poolSpec, poolStatus } from './machine-pool.ts';

const rollout = z.object({
  after: time('Roll out again after this time, even if nothing changed.').optional(),
  strategy: z
    .object({
      type: z
        .enum(['RollingUpdate', 'OnDelete'])
        .describe('Replace machines one after the other, or as they are deleted.'),
      rollingUpdate: z
        .object({
          maxUnavailable: intOrString('How many machines may be missing during a rollout.').optional(),
          maxSurge: intOrString('How many machines more than wanted there may be during a rollout.').optional(),
        })
        .optional()
        .describe('Limits of a rolling update.'),
    })
    .optional()
    .describe('How a change reaches the machines.'),
});

export const machineDeployment = defineKind({
  ...CAPI,
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
  shortNames: ['md'],
  description:
    'A MachineDeployment keeps a number of equal Machines and rolls changes out to them, MachineSet by MachineSet.',
  spec: z
    .object({
      ...poolSpec,
      paused: z.boolean().optional().describe('Leave it alone.'),
      rollout: rollout.optional().describe('How changes are rolled out.'),
      remediation: z
        .object({ maxInFlight: intOrString('How many unhealthy machines are replaced at once.').optional() })
        .optional()
        .describe('How unhealthy machines are replaced.'),
    })
    .describe('What the deployment shall be.'),
  status: z
    .object({
      ...poolStatus,
      phase: z
        .enum(['Running', 'ScalingUp', 'ScalingDown', 'Failed', 'Unknown'])
        .optional()
        .describe('What it is doing.'),
    })
    .describe('What the deployment is.'),
  scale: poolScale,
  columns: [
    { name: 'Cluster', jsonPath: '.spec.clusterName' },
    { name: 'Available', jsonPath: `.status.conditions[?(@.type=="Available")].status` },
    { name: 'Desired', jsonPath: '.spec.replicas', type: 'integer' },
    { name: 'Current', jsonPath: '.status.replicas', type: 'integer' },
    { name: 'Ready', jsonPath: '.status.readyReplicas', type: 'integer' },
    { name: 'Up-to-date', jsonPath: '.status.upToDateReplicas', type: 'integer' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Version', jsonPath: '.spec.template.spec.version', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: demo-workers
  namespace: default
spec:
  rollout:
    strategy:
      type: RollingUpdate
      rollingUpdate:
        maxSurge: 1
        maxUnavailable: 25%
${poolExample}`,
});

export type MachineDeployment = ObjectOf<typeof machineDeployment>;

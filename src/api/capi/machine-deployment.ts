import { z } from 'zod';
import { conditions, intOrString, labelSelector, observedGeneration, replicas, time } from '../fields.ts';
import { defineKind, type ObjectOf } from '../kind.ts';
import { CAPI } from './capi.ts';
import { deletionOrder } from './machine-set.ts';
import { clusterName, machineTemplate } from './machine-spec.ts';

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
      clusterName,
      replicas: replicas('How many machines there shall be.').optional(),
      selector: labelSelector.describe('Which machines belong to it; must match the labels of the template.'),
      template: machineTemplate.describe('What its machines look like.'),
      paused: z.boolean().optional().describe('Leave it alone.'),
      rollout: rollout.optional().describe('How changes are rolled out.'),
      machineNaming: z
        .object({ template: z.string().min(1).max(256).optional().describe('Go template for machine names.') })
        .optional()
        .describe('How machines are named.'),
      remediation: z
        .object({ maxInFlight: intOrString('How many unhealthy machines are replaced at once.').optional() })
        .optional()
        .describe('How unhealthy machines are replaced.'),
      deletion: deletionOrder,
    })
    .describe('What the deployment shall be.'),
  status: z
    .object({
      observedGeneration,
      selector: z.string().max(4096).optional().describe('The selector as text, for autoscalers.'),
      replicas: replicas('How many machines there are.').optional(),
      readyReplicas: replicas('How many are ready.').optional(),
      availableReplicas: replicas('How many are available.').optional(),
      upToDateReplicas: replicas('How many are up to date.').optional(),
      phase: z
        .enum(['Running', 'ScalingUp', 'ScalingDown', 'Failed', 'Unknown'])
        .optional()
        .describe('What it is doing.'),
      conditions,
    })
    .describe('What the deployment is.'),
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
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
  clusterName: demo
  replicas: 2
  rollout:
    strategy:
      type: RollingUpdate
      rollingUpdate:
        maxSurge: 1
        maxUnavailable: 25%
  selector:
    matchLabels:
      pool: workers
  template:
    metadata:
      labels:
        pool: workers
    spec:
      clusterName: demo
      bootstrap:
        configRef:
          apiGroup: bootstrap.cluster.x-k8s.io
          kind: RookeryBootstrapTemplate
          name: workers
      infrastructureRef:
        apiGroup: infrastructure.cluster.x-k8s.io
        kind: HostMachineTemplate
        name: workers
`,
});

export type MachineDeployment = ObjectOf<typeof machineDeployment>;

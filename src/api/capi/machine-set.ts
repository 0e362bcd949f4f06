import { z } from 'zod';
import { conditions, labelSelector, observedGeneration, replicas } from '../fields.ts';
import { defineKind, type ObjectOf } from '../kind.ts';
import { CAPI } from './capi.ts';
import { clusterName, machineTemplate } from './machine-spec.ts';

export const deletionOrder = z
  .object({
    order: z.enum(['Random', 'Newest', 'Oldest']).optional().describe('Which machines go first when scaling down.'),
  })
  .optional()
  .describe('How machines are chosen for deletion.');

export const machineSet = defineKind({
  ...CAPI,
  kind: 'MachineSet',
  plural: 'machinesets',
  shortNames: ['ms'],
  description: 'A MachineSet keeps a number of equal Machines.',
  spec: z
    .object({
      clusterName,
      replicas: replicas('How many machines there shall be.').optional(),
      selector: labelSelector.describe('Which machines belong to it; must match the labels of the template.'),
      template: machineTemplate.describe('What its machines look like.'),
      machineNaming: z
        .object({ template: z.string().min(1).max(256).optional().describe('Go template for machine names.') })
        .optional()
        .describe('How machines are named.'),
      deletion: deletionOrder,
    })
    .describe('What the set shall be.'),
  status: z
    .object({
      observedGeneration,
      selector: z.string().max(4096).optional().describe('The selector as text, for autoscalers.'),
      replicas: replicas('How many machines there are.').optional(),
      readyReplicas: replicas('How many are ready.').optional(),
      availableReplicas: replicas('How many are available.').optional(),
      upToDateReplicas: replicas('How many are up to date.').optional(),
      conditions,
    })
    .describe('What the set is.'),
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  columns: [
    { name: 'Cluster', jsonPath: '.spec.clusterName' },
    { name: 'Desired', jsonPath: '.spec.replicas', type: 'integer' },
    { name: 'Current', jsonPath: '.status.replicas', type: 'integer' },
    { name: 'Ready', jsonPath: '.status.readyReplicas', type: 'integer' },
    { name: 'Available', jsonPath: '.status.availableReplicas', type: 'integer' },
    { name: 'Version', jsonPath: '.spec.template.spec.version', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineSet
metadata:
  name: demo-workers
  namespace: default
spec:
  clusterName: demo
  replicas: 2
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

export type MachineSet = ObjectOf<typeof machineSet>;

import { z } from 'zod';
import {
  conditions,
  contractReference,
  intOrString,
  labelSelector,
  observedGeneration,
  replicas,
  secondsField,
} from '../fields.ts';
import { defineKind, immutable, listMap, type ObjectOf } from '../kind.ts';
import { CAPI } from './capi.ts';
import { clusterName } from './machine-spec.ts';

const unhealthyCondition = z.object({
  type: z.string().min(1).max(316).describe('Type of the condition.'),
  status: z.string().min(1).describe('The bad value.'),
  timeoutSeconds: secondsField('How long it may have it.'),
});

export const machineHealthCheck = defineKind({
  ...CAPI,
  kind: 'MachineHealthCheck',
  plural: 'machinehealthchecks',
  shortNames: ['mhc'],
  description: 'A MachineHealthCheck watches machines and has unhealthy ones replaced.',
  spec: z
    .object({
      clusterName: immutable(clusterName, 'clusterName').describe('Name of the Cluster it belongs to.'),
      selector: labelSelector.describe('Which machines it watches.'),
      checks: z
        .object({
          nodeStartupTimeoutSeconds: secondsField(
            'How long a machine may take to become a Node; 0: for ever.',
          ).optional(),
          unhealthyNodeConditions: listMap(unhealthyCondition, 'type', 'status')
            .min(1)
            .max(100)
            .optional()
            .describe('Conditions of the Node that make a machine unhealthy.'),
          unhealthyMachineConditions: listMap(unhealthyCondition, 'type', 'status')
            .min(1)
            .max(100)
            .optional()
            .describe('Conditions of the Machine that make it unhealthy.'),
        })
        .optional()
        .describe('What makes a machine unhealthy.'),
      remediation: z
        .object({
          triggerIf: z
            .object({
              unhealthyLessThanOrEqualTo: intOrString(
                'Replace machines only while at most so many are unhealthy.',
              ).optional(),
              unhealthyInRange: z
                .string()
                .regex(/^\[[0-9]+-[0-9]+\]$/)
                .max(32)
                .optional()
                .describe('Replace machines only while so many are unhealthy, such as [3-5].'),
            })
            .optional()
            .describe('When machines are replaced.'),
          templateRef: contractReference
            .extend({ apiVersion: z.string().min(1).max(317).optional().describe('Version of the referenced kind.') })
            .omit({ apiGroup: true })
            .optional()
            .describe('Let another controller repair machines, by an object made from this template.'),
        })
        .optional()
        .describe('What happens to unhealthy machines.'),
    })
    .describe('What is watched.'),
  status: z
    .object({
      observedGeneration,
      expectedMachines: replicas('How many machines it watches.').optional(),
      currentHealthy: replicas('How many of them are healthy.').optional(),
      remediationsAllowed: replicas('How many more may be replaced now.').optional(),
      targets: z.array(z.string().min(1).max(253)).max(10000).optional().describe('Names of the machines it watches.'),
      conditions,
    })
    .describe('What was found.'),
  columns: [
    { name: 'Cluster', jsonPath: '.spec.clusterName' },
    { name: 'Expected', jsonPath: '.status.expectedMachines', type: 'integer' },
    { name: 'Healthy', jsonPath: '.status.currentHealthy', type: 'integer' },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata:
  name: demo-workers
  namespace: default
spec:
  clusterName: demo
  selector:
    matchLabels:
      pool: workers
  checks:
    nodeStartupTimeoutSeconds: 600
    unhealthyNodeConditions:
      - type: Ready
        status: Unknown
        timeoutSeconds: 300
  remediation:
    triggerIf:
      unhealthyLessThanOrEqualTo: 40%
`,
});

export type MachineHealthCheck = ObjectOf<typeof machineHealthCheck>;

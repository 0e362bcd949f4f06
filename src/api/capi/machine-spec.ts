/** The spec of a Machine, which MachineSet and MachineDeployment carry as a template. */
import { z } from 'zod';
import { contractReference, dnsSubdomain, replicas, secondsField } from '../fields.ts';
import { listMap, withRules } from '../kind.ts';

export const clusterName = z.string().min(1).max(63).describe('Name of the Cluster it belongs to.');

const taint = z.object({
  key: z.string().min(1).max(317).describe('Key of the taint.'),
  value: z.string().max(63).optional().describe('Value of the taint.'),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).describe('What it does to pods.'),
  propagation: z.enum(['Always', 'OnInitialization']).describe('Whether it is kept or only set once.'),
});

export const machineSpec = z.object({
  clusterName,
  bootstrap: withRules(
    z.object({
      configRef: contractReference.optional().describe('The object that makes the bootstrap data.'),
      dataSecretName: dnsSubdomain.optional().describe('Secret with the bootstrap data.'),
    }),
    {
      rule: 'has(self.configRef) || has(self.dataSecretName)',
      message: 'either configRef or dataSecretName is required',
      reason: 'FieldValueRequired',
    },
  ).describe('Where the bootstrap data comes from.'),
  infrastructureRef: contractReference.describe('The object that provides the machine.'),
  version: z.string().min(1).max(256).optional().describe('Kubernetes version of the node.'),
  providerID: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe("The provider's name for the machine, as its Node says it."),
  failureDomain: z.string().min(1).max(256).optional().describe('Where the machine is placed.'),
  minReadySeconds: secondsField('How long it has to be ready before it counts as available.').optional(),
  readinessGates: listMap(
    z.object({
      conditionType: z.string().min(1).max(316).describe('Type of a condition of the Machine.'),
      polarity: z.enum(['Positive', 'Negative']).optional().describe('Whether True or False is the good value.'),
    }),
    'conditionType',
  )
    .min(1)
    .max(32)
    .optional()
    .describe('Further conditions that have to hold before it counts as ready.'),
  deletion: z
    .object({
      nodeDrainTimeoutSeconds: secondsField('How long draining may take; 0 or absent: for ever.').optional(),
      nodeVolumeDetachTimeoutSeconds: secondsField(
        'How long detaching volumes may take; 0 or absent: for ever.',
      ).optional(),
      nodeDeletionTimeoutSeconds: secondsField('How long to try to delete the Node; 0: for ever.').optional(),
    })
    .optional()
    .describe('How it is deleted.'),
  taints: listMap(taint, 'key', 'effect').min(1).max(64).optional().describe('Taints of its Node.'),
});

export const versions = z
  .array(
    z.object({
      version: z.string().min(1).max(256).describe('A Kubernetes version.'),
      replicas: replicas('How many machines have it.').optional(),
    }),
  )
  .max(100)
  .meta({ 'x-kubernetes-list-type': 'atomic' })
  .optional()
  .describe('Kubernetes versions in use, oldest first.');

export const objectMeta = z.object({
  labels: z.record(z.string(), z.string()).optional().describe('Labels.'),
  annotations: z.record(z.string(), z.string()).optional().describe('Annotations.'),
});

export const machineTemplate = z.object({
  metadata: objectMeta.optional().describe('Labels and annotations of the machines.'),
  spec: machineSpec.describe('Spec of the machines.'),
});

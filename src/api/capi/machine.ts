import { z } from 'zod';
import { conditions, observedGeneration, time } from '../fields.ts';
import { defineKind, immutable, type ObjectOf } from '../kind.ts';
import { CAPI } from './capi.ts';
import { clusterName, machineSpec } from './machine-spec.ts';

export const machine = defineKind({
  ...CAPI,
  kind: 'Machine',
  plural: 'machines',
  shortNames: ['ma'],
  description: 'A Machine is one host of a cluster: deleting it drains its Node and takes the host away.',
  spec: machineSpec
    .extend({ clusterName: immutable(clusterName, 'clusterName') })
    .describe('What the machine shall be.'),
  status: z
    .object({
      observedGeneration,
      phase: z
        .enum([
          'Pending',
          'Provisioning',
          'Provisioned',
          'Running',
          'Updating',
          'Deleting',
          'Deleted',
          'Failed',
          'Unknown',
        ])
        .optional()
        .describe('Where it is in its life.'),
      initialization: z
        .object({
          infrastructureProvisioned: z.boolean().optional().describe('The host has been ready once.'),
          bootstrapDataSecretCreated: z.boolean().optional().describe('The bootstrap data has been made.'),
        })
        .optional()
        .describe('What has been reached and never goes back.'),
      nodeRef: z
        .object({ name: z.string().min(1).max(253).describe('Name of the Node.') })
        .optional()
        .describe('Its Node.'),
      nodeInfo: z
        .looseObject({})
        .meta({ 'x-kubernetes-preserve-unknown-fields': true })
        .optional()
        .describe('What the Node says about itself.'),
      addresses: z
        .array(
          z.object({
            type: z
              .enum(['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS'])
              .describe('Kind of address.'),
            address: z.string().min(1).max(256).describe('The address.'),
          }),
        )
        .max(256)
        .meta({ 'x-kubernetes-list-type': 'atomic' })
        .optional()
        .describe('How it is reached.'),
      failureDomain: z.string().min(1).max(256).optional().describe('Where it is placed.'),
      certificatesExpiryDate: time('When the certificates of its control plane run out.').optional(),
      deletion: z
        .object({
          nodeDrainStartTime: time('When draining began.').optional(),
          waitForPreDrainHookStartTime: time('When waiting for pre-drain hooks began.').optional(),
          waitForPreTerminateHookStartTime: time('When waiting for pre-terminate hooks began.').optional(),
          waitForNodeVolumeDetachStartTime: time('When waiting for volumes began.').optional(),
        })
        .optional()
        .describe('How far its deletion has come.'),
      lastUpdated: time('When the phase last changed.').optional(),
      conditions,
    })
    .describe('What the machine is.'),
  columns: [
    { name: 'Cluster', jsonPath: '.spec.clusterName' },
    { name: 'Node', jsonPath: '.status.nodeRef.name' },
    { name: 'Ready', jsonPath: `.status.conditions[?(@.type=="Ready")].status` },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Version', jsonPath: '.spec.version' },
    { name: 'ProviderID', jsonPath: '.spec.providerID', priority: 10 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata:
  name: demo-worker-1
  namespace: default
spec:
  clusterName: demo
  bootstrap:
    dataSecretName: demo-worker-1-bootstrap
  infrastructureRef:
    apiGroup: infrastructure.cluster.x-k8s.io
    kind: HostMachine
    name: demo-worker-1
`,
});

export type Machine = ObjectOf<typeof machine>;

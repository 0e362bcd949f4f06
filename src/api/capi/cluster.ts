import { z } from 'zod';
import { conditions, contractReference, endpoint, failureDomains, observedGeneration, replicas } from '../fields.ts';
import { defineKind, listMap, type ObjectOf } from '../kind.ts';
import { CAPI } from './capi.ts';
import { versions } from './machine-spec.ts';

const cidrBlocks = z
  .object({ cidrBlocks: z.array(z.string().min(1).max(43)).min(1).max(100).describe('Address ranges.') })
  .optional();

const gate = z.object({
  conditionType: z.string().min(1).max(316).describe('Type of a condition of the object.'),
  polarity: z.enum(['Positive', 'Negative']).optional().describe('Whether True or False is the good value.'),
});

const counters = z
  .object({
    desiredReplicas: replicas('How many are wanted.').optional(),
    replicas: replicas('How many there are.').optional(),
    upToDateReplicas: replicas('How many are up to date.').optional(),
    readyReplicas: replicas('How many are ready.').optional(),
    availableReplicas: replicas('How many are available.').optional(),
    versions,
  })
  .optional();

export const cluster = defineKind({
  ...CAPI,
  kind: 'Cluster',
  plural: 'clusters',
  shortNames: ['cl'],
  description:
    'A Cluster is a Kubernetes cluster, whatever makes it: it refers to the provider objects that do and gathers what they report.',
  spec: z
    .object({
      paused: z.boolean().optional().describe('Leave the cluster and everything of it alone.'),
      clusterNetwork: z
        .object({
          apiServerPort: z
            .int()
            .min(1)
            .max(65535)
            .meta({ format: 'int32' })
            .optional()
            .describe('Port of the API server.'),
          services: cidrBlocks.describe('Address ranges of Services.'),
          pods: cidrBlocks.describe('Address ranges of pods.'),
          serviceDomain: z.string().min(1).max(253).optional().describe('DNS domain of Services.'),
        })
        .optional()
        .describe('The network inside the cluster.'),
      controlPlaneEndpoint: endpoint.optional(),
      controlPlaneRef: contractReference.optional().describe('The object that runs the control plane.'),
      infrastructureRef: contractReference.optional().describe('The object that provides the infrastructure.'),
      availabilityGates: listMap(gate, 'conditionType')
        .min(1)
        .max(32)
        .optional()
        .describe('Further conditions that have to hold before the cluster counts as available.'),
    })
    .describe('What the cluster shall be.'),
  status: z
    .object({
      observedGeneration,
      phase: z
        .enum(['Pending', 'Provisioning', 'Provisioned', 'Deleting', 'Failed', 'Unknown'])
        .optional()
        .describe('Where it is in its life.'),
      initialization: z
        .object({
          infrastructureProvisioned: z.boolean().optional().describe('The infrastructure has been ready once.'),
          controlPlaneInitialized: z.boolean().optional().describe('The API server has answered once.'),
        })
        .optional()
        .describe('What has been reached and never goes back.'),
      failureDomains,
      controlPlane: counters.describe('Machines of the control plane.'),
      workers: counters.describe('Worker machines.'),
      conditions,
    })
    .describe('What the cluster is.'),
  rules: [
    {
      rule: 'self.metadata.name.size() <= 63',
      message: 'the name of a cluster may not be longer than 63 characters',
    },
  ],
  columns: [
    { name: 'Available', jsonPath: `.status.conditions[?(@.type=="Available")].status` },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Provider', jsonPath: '.spec.infrastructureRef.kind' },
    { name: 'Endpoint', jsonPath: '.spec.controlPlaneEndpoint.host', priority: 1 },
    { name: 'Paused', jsonPath: '.spec.paused', type: 'boolean', priority: 10 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: demo
  namespace: default
spec:
  infrastructureRef:
    apiGroup: infrastructure.cluster.x-k8s.io
    kind: VirtualCluster
    name: demo
  controlPlaneRef:
    apiGroup: infrastructure.cluster.x-k8s.io
    kind: VirtualCluster
    name: demo
`,
});

export type Cluster = ObjectOf<typeof cluster>;

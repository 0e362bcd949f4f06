import { z } from 'zod';
import { defineKind, type ObjectOf } from '../kind.ts';
import { contractSpec, contractStatus, INFRASTRUCTURE } from './infrastructure.ts';

export const virtualCluster = defineKind({
  ...INFRASTRUCTURE,
  kind: 'VirtualCluster',
  plural: 'virtualclusters',
  shortNames: ['vc'],
  description:
    'A VirtualCluster is a cluster inside the Rookery process: a real Kubernetes API with its own storage and credentials, and simulated nodes. It is there in milliseconds.',
  spec: z
    .object({
      ...contractSpec,
      nodes: z
        .int()
        .min(0)
        .max(1000)
        .optional()
        .describe('How many simulated nodes the cluster has, named `<cluster>-node-0` and so on. Default: 2.'),
    })
    .describe('What the cluster shall be.'),
  status: z
    .object({ ...contractStatus, url: z.string().max(2048).optional().describe('Where its API is served.') })
    .describe('What the cluster is.'),
  columns: [
    { name: 'Ready', jsonPath: `.status.conditions[?(@.type=="Ready")].status` },
    { name: 'Version', jsonPath: '.status.version' },
    { name: 'URL', jsonPath: '.status.url', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: VirtualCluster
metadata:
  name: demo
  namespace: default
spec: {}
`,
});

export type VirtualCluster = ObjectOf<typeof virtualCluster>;

import { z } from 'zod';
import { kubernetesVersion } from '../fields.ts';
import { defineKind, type ObjectOf } from '../kind.ts';
import { contractSpec, INFRASTRUCTURE, provisionedStatus } from './infrastructure.ts';

function storageUse(description: string) {
  return z
    .object({ used: z.int().min(0).describe('Stored now.'), limit: z.int().min(0).describe('What may be stored.') })
    .describe(description);
}

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
        .describe('How many simulated workers the cluster has, named `<cluster>-node-0` and so on. Default: 2.'),
      controlPlanes: z
        .int()
        .min(0)
        .max(7)
        .optional()
        .describe(
          'How many simulated control plane nodes it has, named `<cluster>-control-plane-0` and so on; they run nothing, and ordinary pods are kept away from them. Default: 0.',
        ),
      kubernetesVersion: kubernetesVersion
        .optional()
        .describe('Kubernetes version. There is one at a time, the one Rookery serves; another one is refused.'),
      storage: z
        .object({
          bytes: z
            .int()
            .min(1)
            .max(2 ** 40)
            .optional()
            .describe('Bytes of JSON of all its objects together. Default: 256 MiB.'),
          objects: z.int().min(1).max(10_000_000).optional().describe('How many objects. Default: 100,000.'),
        })
        .optional()
        .describe(
          'How much the cluster may store. Creating or enlarging an object beyond it is refused (403, `exceeded quota: cluster-storage`); deleting never is. The operator of Rookery sets the defaults and the maximum; more than the maximum counts as the maximum.',
        ),
    })
    .describe('What the cluster shall be.'),
  status: z
    .object({
      ...provisionedStatus,
      storage: z
        .object({ bytes: storageUse('Bytes of JSON of all objects together.'), objects: storageUse('Objects.') })
        .optional()
        .describe(
          'What the cluster stores and may store, without history. Kept up to date to about one percent of the limit.',
        ),
    })
    .describe('What the cluster is.'),
  columns: [
    { name: 'Ready', jsonPath: `.status.conditions[?(@.type=="Ready")].status` },
    { name: 'Version', jsonPath: '.status.version' },
    { name: 'Nodes', jsonPath: '.spec.nodes', type: 'integer', priority: 1 },
    { name: 'Bytes', jsonPath: '.status.storage.bytes.used', type: 'integer', priority: 1 },
    { name: 'Objects', jsonPath: '.status.storage.objects.used', type: 'integer', priority: 1 },
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

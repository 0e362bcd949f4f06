import { z } from 'zod';
import { defineKind, type ObjectOf } from '../kind.ts';
import { CAPI } from './capi.ts';
import { poolExample, poolScale, poolSpec, poolStatus } from './machine-pool.ts';

export const machineSet = defineKind({
  ...CAPI,
  kind: 'MachineSet',
  plural: 'machinesets',
  shortNames: ['ms'],
  description: 'A MachineSet keeps a number of equal Machines.',
  spec: z.object(poolSpec).describe('What the set shall be.'),
  status: z.object(poolStatus).describe('What the set is.'),
  scale: poolScale,
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
${poolExample}`,
});

export type MachineSet = ObjectOf<typeof machineSet>;

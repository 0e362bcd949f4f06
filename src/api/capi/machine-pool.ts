/** What MachineSet and MachineDeployment share: both keep a number of equal machines. */
import { z } from 'zod';
import { conditions, labelSelector, observedGeneration, replicas } from '../fields.ts';
import { immutable } from '../kind.ts';
import { clusterName, machineTemplate, versions } from './machine-spec.ts';

export const poolSpec = {
  clusterName: immutable(clusterName, 'clusterName'),
  replicas: replicas('How many machines there shall be.').optional(),
  selector: labelSelector.describe('Which machines belong to it; must match the labels of the template.'),
  template: machineTemplate.describe('What its machines look like.'),
  machineNaming: z
    .object({ template: z.string().min(1).max(256).optional().describe('Go template for machine names.') })
    .optional()
    .describe('How machines are named.'),
  deletion: z
    .object({
      order: z.enum(['Random', 'Newest', 'Oldest']).optional().describe('Which machines go first when scaling down.'),
    })
    .optional()
    .describe('How machines are chosen for deletion.'),
};

export const poolStatus = {
  observedGeneration,
  selector: z.string().max(4096).optional().describe('The selector as text, for autoscalers.'),
  replicas: replicas('How many machines there are.').optional(),
  readyReplicas: replicas('How many are ready.').optional(),
  availableReplicas: replicas('How many are available.').optional(),
  upToDateReplicas: replicas('How many are up to date.').optional(),
  versions,
  conditions,
};

export const poolScale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

/** The rest of an example, below `spec:`. */
export const poolExample = `  clusterName: demo
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
`;

/** What our infrastructure kinds share: each one meets the InfraCluster and the ControlPlane contract of Cluster API. */
import { z } from 'zod';
import { conditions, endpoint, failureDomains, observedGeneration, replicas } from '../fields.ts';

export const INFRASTRUCTURE = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1alpha1',
  categories: ['cluster-api', 'rookery'],
  scope: 'Namespaced' as const,
  labels: { 'cluster.x-k8s.io/v1beta2': 'v1alpha1' },
};

export const fidelity = z
  .enum(['simulated', 'container', 'virtual', 'machine'])
  .optional()
  .describe('How real the cluster is: simulated nodes, containers, a virtual cluster in another one, or machines.');

export const contractSpec = { controlPlaneEndpoint: endpoint.optional() };

export const contractStatus = {
  observedGeneration,
  initialization: z
    .object({
      provisioned: z.boolean().optional().describe('The infrastructure has been ready once.'),
      controlPlaneInitialized: z.boolean().optional().describe('The API server has answered once.'),
    })
    .optional()
    .describe('What has been reached and never goes back.'),
  failureDomains,
  externalManagedControlPlane: z
    .boolean()
    .optional()
    .describe('The control plane has no machines that Cluster API could see.'),
  version: z.string().max(256).optional().describe('Kubernetes version of the API server.'),
  versions: z
    .array(
      z.object({
        version: z.string().min(1).max(256).describe('A Kubernetes version.'),
        replicas: replicas('How many control plane members have it.').optional(),
      }),
    )
    .max(100)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .optional()
    .describe('Kubernetes versions in use, oldest first.'),
  fidelity,
  conditions,
};

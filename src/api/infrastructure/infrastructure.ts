/** What our infrastructure kinds share: each one meets the InfraCluster and the ControlPlane contract of Cluster API. */
import { z } from 'zod';
import { conditions, endpoint, failureDomains, observedGeneration, replicas, time } from '../fields.ts';
import type { ColumnDefinition } from '../kind.ts';

export const INFRASTRUCTURE = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1alpha1',
  categories: ['cluster-api', 'rookery'],
  scope: 'Namespaced' as const,
  // Our controllers probe their clusters by themselves: the core need not do so a second time.
  labels: { 'cluster.x-k8s.io/v1beta2': 'v1alpha1', 'rookery.dev/reports-connection': 'true' },
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

/** Status of a kind whose cluster is made outside, by a tool. */
export const provisionedStatus = {
  ...contractStatus,
  ready: z.boolean().optional().describe('The API server answers and all nodes are Ready.'),
  failureMessage: z.string().max(32768).optional().describe('What went wrong last.'),
  image: z.string().max(512).optional().describe('The node image in use.'),
  resolved: z
    .object({
      requested: z.string().max(512).describe('The version or image that was asked for; empty when nothing was.'),
      version: z.string().max(256).optional().describe('The Kubernetes version it means.'),
      image: z.string().max(512).describe('The image or program it means.'),
    })
    .optional()
    .describe('What the version asked for was taken to mean. It stays so until another one is asked for.'),
  nodes: z
    .array(
      z.object({
        name: z.string().max(253).describe('Name of the node.'),
        role: z.string().max(63).optional().describe('What it is for.'),
        ready: z.boolean().optional().describe('Whether it is Ready.'),
      }),
    )
    .max(1000)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .optional()
    .describe('The nodes there are.'),
  history: z
    .array(
      z.object({
        timestamp: time('When.'),
        reason: z.string().max(1024).describe('What, in one CamelCase word.'),
        message: z.string().max(32768).optional().describe('What, for people.'),
      }),
    )
    .max(50)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .optional()
    .describe('What happened to the cluster, newest last; the oldest entries are dropped.'),
};

/** What lists of them show, where the spec has a `clusterName`. */
export const provisionedColumns: ColumnDefinition[] = [
  { name: 'Cluster', jsonPath: '.spec.clusterName' },
  { name: 'Version', jsonPath: '.status.version' },
  { name: 'Ready', jsonPath: '.status.ready', type: 'boolean' },
  { name: 'Image', jsonPath: '.status.image', priority: 1 },
  { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
];

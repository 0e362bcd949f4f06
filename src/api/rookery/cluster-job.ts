import { z } from 'zod';
import { conditions, dnsSubdomain, kubernetesVersion, observedGeneration, replicas, time } from '../fields.ts';
import { defineKind, listMap, type ObjectOf, withRules } from '../kind.ts';

const step = z.object({
  name: z.string().min(1).max(128).describe('What is done.'),
  state: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Skipped']).describe('How far it is.'),
  startedAt: time('When it began.').optional(),
  finishedAt: time('When it ended.').optional(),
  message: z.string().max(32768).optional().describe('What it has to say.'),
});

export const clusterJob = defineKind({
  group: 'rookery.dev',
  version: 'v1alpha1',
  kind: 'ClusterJob',
  plural: 'clusterjobs',
  shortNames: ['cj'],
  categories: ['rookery'],
  scope: 'Namespaced',
  description:
    'A ClusterJob is a request that takes longer than a connection lasts: made by the REST API, carried out by a worker, with its progress in status.',
  spec: withRules(
    z.object({
      clusterName: z.string().min(1).max(63).describe('The Cluster it is about, in the same namespace.'),
      type: z
        .enum(['provision', 'deprovision', 'upgrade', 'scale', 'repair', 'rotate-secrets', 'backup', 'restore'])
        .describe('What shall be done.'),
      version: kubernetesVersion.optional().describe('The version to upgrade to.'),
      workers: replicas('The number of workers to scale to.').optional(),
      backup: dnsSubdomain.optional().describe('The backup to restore.'),
      requestedBy: z.string().max(253).optional().describe('Who asked for it.'),
      idempotencyKey: z
        .string()
        .min(1)
        .max(128)
        .optional()
        .describe('Requests with the same key are the same request, however often they arrive.'),
      cancel: z.boolean().optional().describe('Stop as soon as it is safe.'),
      ttlSecondsAfterFinished: z
        .int()
        .min(0)
        .meta({ format: 'int32' })
        .optional()
        .describe('Delete the job so long after it ended.'),
    }),
    {
      rule: "self.type != 'upgrade' || has(self.version)",
      message: 'an upgrade needs a version',
      reason: 'FieldValueRequired',
    },
    {
      rule: "self.type != 'scale' || has(self.workers)",
      message: 'scaling needs a number of workers',
      reason: 'FieldValueRequired',
    },
    {
      rule: "self.type != 'restore' || has(self.backup)",
      message: 'a restore needs a backup',
      reason: 'FieldValueRequired',
    },
    {
      rule: 'self.clusterName == oldSelf.clusterName && self.type == oldSelf.type',
      message: 'clusterName and type cannot be changed; make another job',
      reason: 'FieldValueForbidden',
    },
  ).describe('What was asked for.'),
  status: z
    .object({
      observedGeneration,
      phase: z
        .enum(['Queued', 'Running', 'Succeeded', 'Failed', 'Cancelled'])
        .optional()
        .describe('How far the job is.'),
      progress: z.int().min(0).max(100).optional().describe('How much is done, in percent.'),
      attempts: z.int().min(0).optional().describe('How often it was tried.'),
      worker: z.string().max(253).optional().describe('Who works on it.'),
      startedAt: time('When it was first taken up.').optional(),
      finishedAt: time('When it ended.').optional(),
      message: z.string().max(32768).optional().describe('What it has to say.'),
      steps: listMap(step, 'name').max(100).optional().describe('What it consists of.'),
      conditions,
    })
    .describe('How it is going.'),
  columns: [
    { name: 'Cluster', jsonPath: '.spec.clusterName' },
    { name: 'Type', jsonPath: '.spec.type' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Progress', jsonPath: '.status.progress', type: 'integer' },
    { name: 'Message', jsonPath: '.status.message', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: rookery.dev/v1alpha1
kind: ClusterJob
metadata:
  generateName: prod-upgrade-
  namespace: default
spec:
  clusterName: prod
  type: upgrade
  version: v1.35.4
`,
});

export type ClusterJob = ObjectOf<typeof clusterJob>;

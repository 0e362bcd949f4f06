import { z } from 'zod';
import { conditions, dnsSubdomain, observedGeneration, time } from '../fields.ts';
import { defineKind, immutable, listMap, listSet, type ObjectOf } from '../kind.ts';
import { workspaceDefaults } from './workspace-defaults.ts';

const stepRecord = z.object({
  step: z.string().max(63).describe('The step.'),
  startedAt: time('When the instance reached it.'),
  finishedAt: time('When the instance left it.').optional(),
  result: z.enum(['Passed', 'Failed', 'Skipped']).optional().describe('What its checks said last.'),
});

const checkResult = z.object({
  name: z.string().max(253).describe('The check.'),
  passed: z.boolean().describe('Whether it holds.'),
  message: z.string().max(4096).optional().describe('What was found instead, and what helps.'),
  checkedAt: time('When it was run.'),
});

const linkRecord = z.object({
  id: z.string().max(64).describe('By which it is revoked.'),
  role: z.enum(['student', 'viewer']).describe('`student`: to work in it. `viewer`: to look only.'),
  createdAt: time('When it was made.'),
  expiresAt: time('When it ends by itself.'),
});

export const workspaceInstance = defineKind({
  group: 'workshop.platform',
  version: 'v1alpha1',
  kind: 'WorkspaceInstance',
  plural: 'workspaceinstances',
  shortNames: ['wsi'],
  categories: ['rookery', 'workshop'],
  scope: 'Namespaced',
  description:
    'A WorkspaceInstance is the workspace of one person: creating it brings up the workload, the nested cluster and the terminal of its template.',
  spec: z
    .object({
      templateRef: immutable(
        z.object({ name: dnsSubdomain.describe('Name of the WorkspaceTemplate.') }),
        'templateRef',
      ).describe('The template it is made from.'),
      owner: z.string().min(1).max(253).describe('The person it belongs to.'),
      currentStep: z
        .string()
        .max(63)
        .optional()
        .describe('The step it shall be at. Changing it requests a transition; status.currentStep follows.'),
      overrides: workspaceDefaults.optional().describe('Deviations from the template, as far as it allows them.'),
      revokedLinks: listSet(z.string().max(64))
        .max(200)
        .optional()
        .describe('Links that are revoked, by id; `status.links` lists all that were made.'),
      linksRevokedAt: time('All links made up to this moment are revoked.').optional(),
      suspend: z.boolean().optional().describe('Suspend the workspace; its state comes back on resume.'),
    })
    .describe('Whose workspace, of which template, at which step.'),
  status: z
    .object({
      observedGeneration,
      phase: z
        .enum(['Pending', 'Provisioning', 'Running', 'Suspended', 'Terminating', 'Failed'])
        .optional()
        .describe('Where it is in its life.'),
      currentStep: z.string().max(63).optional().describe('The step it is at.'),
      startedAt: time('When it first ran.').optional(),
      expiresAt: time('When its time is up.').optional(),
      lastActivityAt: time('When it was last used.').optional(),
      accessEndpoints: z
        .object({ webTerminal: z.string().max(2048).optional().describe('URL of the browser terminal.') })
        .optional()
        .describe('How to get in.'),
      links: listMap(linkRecord, 'id')
        .max(200)
        .optional()
        .describe('Links to its page that were made and have not expired when the last one was made.'),
      clusterRef: z
        .object({ name: dnsSubdomain.describe('Name of the Cluster in this namespace.') })
        .optional()
        .describe('The nested cluster.'),
      workload: z.string().max(63).optional().describe('Where its shell runs: `process` or `docker`.'),
      checks: listMap(checkResult, 'name')
        .max(50)
        .optional()
        .describe('What the checks of the current step said last.'),
      completedSteps: listSet(z.string().max(63))
        .max(200)
        .optional()
        .describe('Steps whose checks have passed once, and steps without checks that were reached.'),
      stepHistory: listMap(stepRecord, 'step', 'startedAt').max(500).optional().describe('Where it has been.'),
      conditions,
    })
    .describe('How the workspace is doing.'),
  columns: [
    { name: 'Template', jsonPath: '.spec.templateRef.name' },
    { name: 'Owner', jsonPath: '.spec.owner' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Step', jsonPath: '.status.currentStep' },
    { name: 'Expires', jsonPath: '.status.expiresAt', priority: 1 },
    { name: 'Terminal', jsonPath: '.status.accessEndpoints.webTerminal', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: workshop.platform/v1alpha1
kind: WorkspaceInstance
metadata:
  name: kubernetes-101-student-42
  namespace: ws-kubernetes-101-student-42
spec:
  templateRef:
    name: kubernetes-101
  owner: student-42
  currentStep: step-2-deploy
  overrides:
    lifecycle:
      ttl: 4h
`,
});

export type WorkspaceInstance = ObjectOf<typeof workspaceInstance>;

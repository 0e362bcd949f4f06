import { z } from 'zod';
import { conditions, dnsSubdomain, duration, observedGeneration } from '../fields.ts';
import { defineKind, listMap, listSet, type ObjectOf, withRules } from '../kind.ts';
import { stepContents } from './step-contents.ts';
import { overridable, workspaceDefaults } from './workspace-defaults.ts';

const step = z.object({
  id: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe('Identifier of the step, the same as in workshop.yaml.'),
  title: z.string().min(1).max(256).describe('What people read.'),
  imageTag: z
    .string()
    .min(1)
    .max(512)
    .describe('Full OCI image tag of this step, such as myorg/kubernetes-101:step-1.'),
  cluster: z
    .enum(['keep', 'reset', 'restore'])
    .optional()
    .describe(
      'What happens to the nested cluster when this step begins: kept (default), made anew, or restored to the snapshot of this step.',
    ),
  ...stepContents,
});

const destination = z.object({
  host: withRules(
    z
      .string()
      .min(1)
      .max(253)
      .regex(/^[a-z0-9:]([-a-z0-9.:]*[a-z0-9])?$/)
      .describe(
        'A name or an address. Names are judged where they lead: not to this machine. Addresses are taken as they are.',
      ),
    {
      rule: "isIP(self) ? !ip(self).isUnspecified() : !self.contains(':')",
      message: 'must be a name such as pypi.org, or an address such as 10.0.0.7',
    },
  ),
  port: z.int().min(1).max(65535).describe('TCP port.'),
});

const network = z.object({
  egress: z
    .array(destination)
    .max(64)
    .optional()
    .describe('What shells may connect to, besides the API of their own cluster and the name servers of the machine.'),
});

const overridePolicy = withRules(
  z.object({
    allow: listSet(z.enum(overridable))
      .max(20)
      .optional()
      .describe('Fields an instance may override besides the usual ones.'),
    deny: listSet(z.enum(overridable)).max(20).optional().describe('Fields an instance may not override.'),
    maxTTL: duration('The longest ttl an instance may ask for.').optional(),
  }),
  {
    rule: '!has(self.allow) || !has(self.deny) || !self.allow.exists(f, f in self.deny)',
    message: 'a field cannot be both allowed and denied',
  },
);

export const workspaceTemplate = defineKind({
  group: 'workshop.platform',
  version: 'v1alpha1',
  kind: 'WorkspaceTemplate',
  plural: 'workspacetemplates',
  shortNames: ['wst'],
  categories: ['rookery', 'workshop'],
  scope: 'Cluster',
  description:
    'A WorkspaceTemplate is the blueprint of a workshop: how its workspaces behave and which steps it has. Many WorkspaceInstances refer to one.',
  spec: z
    .object({
      defaults: workspaceDefaults
        .prefault({})
        .describe('How workspaces of this template behave unless they override it.'),
      steps: listMap(step, 'id')
        .max(200)
        .optional()
        .describe(
          'The steps of the workshop, in order; filled in by `rookery template sync` from the compiled artifact.',
        ),
      navigation: z
        .enum(['linear', 'free', 'guided'])
        .optional()
        .describe(
          'In which order steps may be entered. `free` (default): any. `linear`: one is open when all before it are done. `guided`: groups open one after the other. What a step requires counts in all of them.',
        ),
      network: network.optional().describe('The network of the workspaces. Each has one of its own.'),
      imagePullSecrets: listMap(
        z.object({ name: dnsSubdomain.describe('Name of a Secret with registry credentials.') }),
        'name',
      )
        .max(20)
        .optional()
        .describe('Credentials for the registry of the step images.'),
      overridePolicy: overridePolicy
        .optional()
        .describe('What instances may override. Usually lifecycle.ttl, lifecycle.idleSuspend, resources and access.'),
    })
    .describe('What operators configure and the compiler fills in.'),
  status: z
    .object({
      observedGeneration,
      instances: z.int().min(0).optional().describe('How many instances refer to it.'),
      conditions,
    })
    .describe('What was found out about the template.'),
  columns: [
    { name: 'Cluster', jsonPath: '.spec.defaults.cluster.mode', description: 'Cluster mode' },
    { name: 'TTL', jsonPath: '.spec.defaults.lifecycle.ttl', description: 'Time to live' },
    { name: 'Instances', jsonPath: '.status.instances', type: 'integer' },
    { name: 'Mode', jsonPath: '.spec.defaults.lifecycle.mode', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: workshop.platform/v1alpha1
kind: WorkspaceTemplate
metadata:
  name: kubernetes-101
spec:
  defaults:
    lifecycle:
      mode: ephemeral
      ttl: 2h
      idleSuspend: true
    isolation:
      mode: individual
    cluster:
      mode: none
    resources:
      cpu: "500m"
      memory: "512Mi"
    access:
      webTerminal: true
  imagePullSecrets:
    - name: registry-credentials
  steps:
    - id: step-1-intro
      title: "Introduction"
      imageTag: myorg/kubernetes-101:step-1-intro
    - id: step-2-deploy
      title: "Deploy the App"
      imageTag: myorg/kubernetes-101:step-2-deploy
`,
});

export type WorkspaceTemplate = ObjectOf<typeof workspaceTemplate>;

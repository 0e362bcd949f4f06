import { z } from 'zod';
import { dnsSubdomain, kubernetesVersion, quantity } from '../fields.ts';
import { defineKind, immutable, type ObjectOf, withRules } from '../kind.ts';
import { contractSpec, INFRASTRUCTURE, provisionedStatus } from './infrastructure.ts';

const dnsLabel = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

const repository = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*(:[0-9]+)?(\/[a-z0-9._-]+)+$/);

const quantities = (description: string) =>
  z.record(z.string(), quantity('How much of it.')).optional().describe(description);

const host = withRules(
  z.object({
    cluster: dnsSubdomain
      .optional()
      .describe('Name of a Cluster in the same namespace. Its Secret `<cluster>-kubeconfig` opens it.'),
    kubeconfigSecretRef: z
      .object({
        name: dnsSubdomain.describe('Name of the Secret, in the same namespace.'),
        key: z.string().min(1).max(253).default('value').describe('Key in the Secret.'),
      })
      .optional()
      .describe('A Secret with a kubeconfig of the host cluster.'),
  }),
  {
    rule: 'has(self.cluster) != has(self.kubeconfigSecretRef)',
    message: 'give exactly one of cluster and kubeconfigSecretRef',
    reason: 'FieldValueInvalid',
  },
  { rule: 'self == oldSelf', message: 'host cannot be changed', reason: 'FieldValueForbidden' },
).describe('The cluster it lives in.');

const flag = (description: string) => z.boolean().optional().describe(description);

export const vcluster = defineKind({
  ...INFRASTRUCTURE,
  kind: 'VCluster',
  plural: 'vclusters',
  shortNames: ['vcl'],
  description:
    'A VCluster is a cluster inside a namespace of another one, made by vcluster: an API server of its own, whose pods run on the nodes of the host. Creating one puts it there, and its kubeconfig into a Secret; deleting it leaves nothing in the host.',
  spec: withRules(
    z.object({
      ...contractSpec,
      host,
      clusterName: immutable(
        z
          .string()
          .min(1)
          .max(50)
          .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/)
          .describe('Name of the vcluster in the host cluster; its Service and StatefulSet are called so.'),
        'clusterName',
      ),
      namespace: immutable(
        dnsLabel
          .optional()
          .describe(
            'Namespace of the host cluster it lives in, with no other vcluster. Made when it is not there, and then removed with it. Default: `vcluster-<clusterName>`.',
          ),
        'namespace',
      ),
      kubernetesVersion: kubernetesVersion
        .optional()
        .describe('A minor such as `1.35`, or an exact patch. It can go up by one minor at a time, never down.'),
      vclusterVersion: z
        .string()
        .regex(/^v?0\.[0-9]{1,3}\.[0-9]{1,3}$/)
        .optional()
        .describe('Release of vcluster, such as `0.34.0`. Default: the one this Rookery was tested with.'),
      images: z
        .object({
          registry: z
            .string()
            .min(1)
            .max(255)
            .optional()
            .describe('A registry all images are taken from, as `host[:port][/path]`.'),
          vcluster: repository
            .optional()
            .describe('Repository of the syncer. Default: `ghcr.io/loft-sh/vcluster-oss`.'),
          kubernetes: repository
            .optional()
            .describe('Repository of the Kubernetes binaries. Default: `ghcr.io/loft-sh/kubernetes`.'),
          coredns: z
            .string()
            .min(1)
            .max(512)
            .optional()
            .describe('Image of the cluster DNS, with its tag. Default: what vcluster takes for that Kubernetes.'),
          pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional().describe('When images are pulled.'),
          pullSecrets: z
            .array(dnsSubdomain)
            .max(10)
            .meta({ 'x-kubernetes-list-type': 'set' })
            .optional()
            .describe('Secrets of the host namespace with the credentials of registries.'),
        })
        .optional()
        .describe('Where images come from.'),
      persistence: immutable(
        z.object({
          enabled: flag('Keep the data in a volume. Without one a restart loses everything. Default: true.'),
          size: quantity('Size of the volume. Default: 5Gi.').optional(),
          storageClassName: dnsSubdomain.optional().describe('Default: the default class of the host.'),
        }),
        'persistence',
      )
        .optional()
        .describe('Where the data of the cluster is kept.'),
      resources: z
        .object({
          requests: quantities('What the control plane is given for sure.'),
          limits: quantities('What it may not go beyond.'),
        })
        .optional()
        .describe('Resources of the control plane; of those not given here, vcluster’s own defaults hold.'),
      expose: z
        .object({
          type: z
            .enum(['NodePort', 'LoadBalancer', 'ClusterIP'])
            .optional()
            .describe('How it is reached from outside; `ClusterIP`: not at all. Default: NodePort.'),
          host: z
            .string()
            .min(1)
            .max(253)
            .optional()
            .describe('Name or address in the kubeconfig, where that of a node or load balancer is not reachable.'),
          nodePort: z
            .int()
            .min(1)
            .max(65535)
            .meta({ format: 'int32' })
            .optional()
            .describe('The port on the nodes. Default: a free one.'),
          sans: z
            .array(z.string().min(1).max(253))
            .max(50)
            .meta({ 'x-kubernetes-list-type': 'set' })
            .optional()
            .describe('More names and addresses for its certificate.'),
        })
        .optional()
        .describe('How its API server is reached from outside the host cluster.'),
      sync: z
        .object({
          nodes: flag('Show the real nodes of the host.'),
          ingresses: flag('Ingresses work: they are made in the host too.'),
          ingressClasses: flag('Show the ingress classes of the host.'),
          networkPolicies: flag('Network policies work: they are made in the host too.'),
          persistentVolumes: flag('Persistent volumes can be made in it.'),
          storageClasses: flag('Show the storage classes of the host.'),
          serviceAccounts: flag('Service accounts are made in the host too.'),
          podDisruptionBudgets: flag('Pod disruption budgets are made in the host too.'),
          priorityClasses: flag('Priority classes are made in the host too.'),
        })
        .optional()
        .describe('What goes between it and its host, besides pods, services, claims, and what pods use.'),
      values: z
        .looseObject({})
        .meta({ 'x-kubernetes-preserve-unknown-fields': true })
        .optional()
        .describe('More of `vcluster.yaml`, merged over what follows from the other fields.'),
    }),
    // `namespace` is a word of CEL itself, hence the underscores.
    {
      rule: 'has(self.__namespace__) == has(oldSelf.__namespace__)',
      message: 'namespace cannot be changed',
      reason: 'FieldValueForbidden',
    },
    {
      rule: 'has(self.persistence) == has(oldSelf.persistence)',
      message: 'persistence cannot be changed',
      reason: 'FieldValueForbidden',
    },
  ).describe('What the cluster shall be.'),
  status: z.object(provisionedStatus).describe('What the cluster is.'),
  columns: [
    { name: 'Host', jsonPath: '.spec.host.cluster' },
    { name: 'Version', jsonPath: '.status.version' },
    { name: 'Ready', jsonPath: '.status.ready', type: 'boolean' },
    { name: 'Namespace', jsonPath: '.spec.namespace', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: VCluster
metadata:
  name: team
  namespace: default
spec:
  host:
    cluster: big
  clusterName: team
  kubernetesVersion: "1.35"
`,
});

export type VCluster = ObjectOf<typeof vcluster>;

import { z } from 'zod';
import { kubernetesVersion } from '../fields.ts';
import { defineKind, immutable, type ObjectOf, withRules } from '../kind.ts';
import { contractSpec, INFRASTRUCTURE, provisionedColumns, provisionedStatus } from './infrastructure.ts';

const port = (description: string) => z.int().min(0).max(65535).meta({ format: 'int32' }).describe(description);

const node = z.object({
  role: z.enum(['control-plane', 'worker']).default('worker').describe('What the node is for.'),
  image: z.string().min(1).max(512).optional().describe('Node image of this node.'),
  labels: z.record(z.string(), z.string()).optional().describe('Labels of the Node.'),
  extraMounts: z
    .array(
      z.object({
        hostPath: z.string().min(1).max(4096).describe('Path on the host.'),
        containerPath: z.string().min(1).max(4096).describe('Path in the node.'),
        readOnly: z.boolean().optional().describe('Mount it read-only.'),
      }),
    )
    .max(50)
    .optional()
    .describe('Folders of the host mounted into the node.'),
  extraPortMappings: z
    .array(
      z.object({
        containerPort: port('Port in the node.'),
        hostPort: port('Port on the host; 0 means any free one.').optional(),
        listenAddress: z.string().max(45).optional().describe('Address on the host.'),
        protocol: z.enum(['TCP', 'UDP', 'SCTP']).optional().describe('Protocol.'),
      }),
    )
    .max(100)
    .optional()
    .describe('Ports of the node published on the host.'),
  kubeadmConfigPatches: z
    .array(z.string().max(65536))
    .max(20)
    .optional()
    .describe('Patches of the kubeadm configuration.'),
});

export const kindCluster = defineKind({
  ...INFRASTRUCTURE,
  kind: 'KINDCluster',
  plural: 'kindclusters',
  shortNames: ['kc'],
  description:
    'A KINDCluster is a Kubernetes cluster in Docker containers, made by kind on the machine Rookery runs on. Its kubeconfig is stored in the Secret `<clusterName>-config`.',
  spec: withRules(
    z.object({
      ...contractSpec,
      clusterName: immutable(
        z
          .string()
          .min(1)
          .max(50)
          .regex(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/),
        'clusterName',
      ).describe('Name of the kind cluster; a rename would orphan the old one, so it cannot change.'),
      kubernetesVersion: kubernetesVersion
        .optional()
        .describe('Kubernetes version; 1.35 means the newest 1.35 patch that can be had.'),
      image: z.string().min(1).max(512).optional().describe('Node image, when no version from the catalog fits.'),
      controlPlaneNodes: z
        .int()
        .min(1)
        .max(7)
        .meta({ format: 'int32' })
        .optional()
        .describe('How many control plane nodes; several come with a load balancer.'),
      workerNodes: z.int().min(0).max(100).meta({ format: 'int32' }).optional().describe('How many worker nodes.'),
      nodes: z.array(node).min(1).max(100).optional().describe('The nodes one by one, instead of the two numbers.'),
      networking: z
        .object({
          ipFamily: z.enum(['ipv4', 'ipv6', 'dual']).optional().describe('Address family.'),
          podSubnet: z.string().max(100).optional().describe('Address range of pods.'),
          serviceSubnet: z.string().max(100).optional().describe('Address range of Services.'),
          apiServerAddress: z.string().max(45).optional().describe('Address of the host the API is published on.'),
          apiServerPort: port('Port of the host the API is published on; 0 means any free one.').optional(),
          disableDefaultCNI: z.boolean().optional().describe('Install no network plug-in.'),
          kubeProxyMode: z.enum(['iptables', 'ipvs', 'nftables', 'none']).optional().describe('How kube-proxy works.'),
        })
        .optional()
        .describe('The network of the cluster.'),
      featureGates: z.record(z.string(), z.boolean()).optional().describe('Feature gates of all components.'),
      runtimeConfig: z.record(z.string(), z.string()).optional().describe('API versions to switch on or off.'),
      kubeadmConfigPatches: z
        .array(z.string().max(65536))
        .max(20)
        .optional()
        .describe('Patches of the kubeadm configuration.'),
      containerdConfigPatches: z
        .array(z.string().max(65536))
        .max(20)
        .optional()
        .describe('Patches of the containerd configuration.'),
    }),
    {
      rule: '!has(self.nodes) || (!has(self.controlPlaneNodes) && !has(self.workerNodes))',
      message: 'give either nodes or the numbers controlPlaneNodes and workerNodes, not both',
    },
    {
      rule: "!has(self.nodes) || self.nodes.exists(n, has(n.role) && n.role == 'control-plane')",
      message: 'at least one of the nodes must have the role control-plane',
    },
  ).describe('What the cluster shall be.'),
  status: z.object(provisionedStatus).describe('What the cluster is.'),
  columns: provisionedColumns,
  example: `apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: KINDCluster
metadata:
  name: dev
  namespace: default
spec:
  clusterName: dev
  kubernetesVersion: "1.35"
  controlPlaneNodes: 1
  workerNodes: 2
`,
});

export type KindCluster = ObjectOf<typeof kindCluster>;

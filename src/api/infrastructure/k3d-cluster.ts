import { z } from 'zod';
import { kubernetesVersion } from '../fields.ts';
import { defineKind, immutable, listSet, type ObjectOf, withRules } from '../kind.ts';
import { contractSpec, INFRASTRUCTURE, provisionedColumns, provisionedStatus } from './infrastructure.ts';

const port = (description: string) => z.int().min(0).max(65535).meta({ format: 'int32' }).describe(description);
const memory = (description: string) =>
  z
    .string()
    .max(16)
    .regex(/^[1-9][0-9]*[kmgKMG]$/)
    .optional()
    .describe(description);

const nodeFilter = z
  .string()
  .max(64)
  .regex(/^(all|loadbalancer|(server|agent)s?(:(\*|[0-9]+(,[0-9]+)*|[0-9]*-[0-9]*))?(:(direct|proxy))?)$/);
const nodeFilters = (description: string) => z.array(nodeFilter).min(1).max(20).optional().describe(description);

const k3sArg = withRules(
  z
    .string()
    .min(3)
    .max(1024)
    .regex(/^--[a-z]/),
  {
    rule: "!self.matches('^--(token|agent-token|server|cluster-init|data-dir)(=|$)')",
    message: 'k3d sets --token, --agent-token, --server, --cluster-init and --data-dir itself',
  },
);

export const k3dCluster = defineKind({
  ...INFRASTRUCTURE,
  kind: 'K3dCluster',
  plural: 'k3dclusters',
  shortNames: ['k3d'],
  description:
    'A K3dCluster is a k3s cluster in Docker containers, made by k3d on the machine Rookery runs on: small, quick to start, on a network of its own, and it can be stopped and started.',
  spec: withRules(
    z.object({
      ...contractSpec,
      clusterName: immutable(
        z
          .string()
          .min(1)
          .max(32)
          .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
        'clusterName',
      ).describe('Name of the k3d cluster; a rename would orphan the old one, so it cannot change.'),
      kubernetesVersion: kubernetesVersion
        .optional()
        .describe('Kubernetes version; 1.35 means the newest 1.35 of k3s that can be had, v1.35.0+k3s1 exactly that.'),
      image: z.string().min(1).max(512).optional().describe('Node image, when no version from the catalog fits.'),
      servers: z
        .int()
        .min(1)
        .max(7)
        .meta({ format: 'int32' })
        .optional()
        .describe('How many servers (control plane nodes, which also run pods). Default: 1.'),
      agents: z
        .int()
        .min(0)
        .max(100)
        .meta({ format: 'int32' })
        .optional()
        .describe('How many agents (worker nodes). Can change while the cluster runs. Default: 0.'),
      loadBalancer: z
        .boolean()
        .optional()
        .describe(
          'A container in front of the servers, with one address for the API and the published ports. Default: only with several servers.',
        ),
      apiAddress: z
        .ipv4()
        .max(15)
        .optional()
        .describe('Address of the host the API is published on. Default: 127.0.0.1.'),
      apiPort: port('Port of the host the API is published on; 0 means any free one. Default: 0.').optional(),
      ports: z
        .array(
          z.object({
            containerPort: z.int().min(1).max(65535).meta({ format: 'int32' }).describe('Port in the node.'),
            hostPort: port('Port on the host; 0 means any free one.').optional(),
            listenAddress: z.ipv4().max(15).optional().describe('Address on the host.'),
            protocol: z.enum(['TCP', 'UDP']).optional().describe('Protocol.'),
            nodeFilters: nodeFilters(
              'Which nodes: `loadbalancer` (all of them through it) or `server:0:direct`. Default: the load balancer where there is one, else the first server.',
            ),
          }),
        )
        .max(100)
        .optional()
        .describe('Ports of the nodes published on the host.'),
      k3sArgs: z
        .array(
          z.object({
            arg: k3sArg.describe('Argument such as `--disable=traefik`.'),
            nodeFilters: nodeFilters('Which nodes. Default: all servers.'),
          }),
        )
        .max(50)
        .optional()
        .describe('More arguments for k3s.'),
      env: z
        .array(
          z.object({
            name: z
              .string()
              .max(256)
              .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
              .describe('Name of the variable.'),
            value: z.string().max(4096).describe('Its value.'),
            nodeFilters: nodeFilters('Which nodes. Default: all servers and agents.'),
          }),
        )
        .max(50)
        .optional()
        .describe('Environment of the nodes, such as HTTP_PROXY.'),
      volumes: z
        .array(
          z.object({
            hostPath: z
              .string()
              .max(4096)
              .regex(/^[^:]+$/)
              .describe('Path on the host, or name of a Docker volume.'),
            containerPath: z
              .string()
              .max(4096)
              .regex(/^\/[^:]*$/)
              .describe('Path in the node.'),
            readOnly: z.boolean().optional().describe('Mount it read-only.'),
            nodeFilters: nodeFilters('Which nodes. Default: all servers and agents.'),
          }),
        )
        .max(50)
        .optional()
        .describe('Folders of the host mounted into the nodes.'),
      registries: listSet(z.string().min(1).max(253))
        .max(10)
        .optional()
        .describe('Registries that k3d made before, by the names of their containers; nodes pull from them.'),
      registryConfig: z
        .string()
        .max(65536)
        .optional()
        .describe("k3s' registries.yaml: mirrors and their certificates. Passwords belong into registryConfigSecret."),
      registryConfigSecret: z
        .object({
          name: z.string().min(1).max(253).describe('Name of a Secret in the same namespace.'),
          key: z.string().min(1).max(253).default('registries.yaml').describe('Key in it.'),
        })
        .optional()
        .describe('Where registries.yaml is, when it holds passwords.'),
      subnet: z
        .string()
        .max(18)
        .regex(/^(auto|[0-9]{1,3}(\.[0-9]{1,3}){3}\/[0-9]{1,2})$/)
        .optional()
        .describe(
          'Address range of the Docker network, or `auto` for any free one; servers then keep their addresses. Default: what Docker gives, and `auto` with several servers.',
        ),
      serverMemory: memory('Memory limit of each server, such as 2g; k3s wants at least 700m.'),
      agentMemory: memory('Memory limit of each agent.'),
      images: listSet(z.string().min(1).max(512))
        .max(50)
        .optional()
        .describe('Images of the Docker engine that are put into all nodes, and again when they change.'),
    }),
    {
      rule: '!has(self.servers) || self.servers % 2 == 1',
      message: 'servers must be odd: an even number survives no more failures than one less, and loses more often',
      fieldPath: '.servers',
    },
    {
      rule: '!has(self.ports) || !has(self.loadBalancer) || self.loadBalancer || self.ports.all(p, !has(p.nodeFilters) || p.nodeFilters.all(f, f.endsWith(":direct")))',
      message: 'with loadBalancer: false ports cannot go through it; use node filters such as server:0:direct',
      fieldPath: '.ports',
    },
    {
      rule: '!has(self.ports) || has(self.loadBalancer) || (has(self.servers) && self.servers > 1) || self.ports.all(p, !has(p.nodeFilters) || p.nodeFilters.all(f, f.endsWith(":direct")))',
      message:
        'a single server has no load balancer unless you ask for it: add loadBalancer: true, or use node filters such as server:0:direct',
      fieldPath: '.ports',
    },
    {
      rule: '!(has(self.registryConfig) && has(self.registryConfigSecret))',
      message: 'give either registryConfig or registryConfigSecret, not both',
    },
    {
      rule: '!(has(self.image) && has(self.kubernetesVersion))',
      message: 'give either image or kubernetesVersion, not both: the image decides the version',
    },
  ).describe('What the cluster shall be.'),
  status: z.object(provisionedStatus).describe('What the cluster is.'),
  columns: provisionedColumns,
  example: `apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: K3dCluster
metadata:
  name: dev
  namespace: default
spec:
  clusterName: dev
  kubernetesVersion: "1.35"
  agents: 1
  ports:
  - containerPort: 30080
    hostPort: 8080
    listenAddress: 127.0.0.1
  k3sArgs:
  - arg: --disable=traefik
`,
});

export type K3dCluster = ObjectOf<typeof k3dCluster>;

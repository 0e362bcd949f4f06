import { z } from 'zod';
import { dnsSubdomain, kubernetesVersion } from '../fields.ts';
import { defineKind, immutable, listSet, type ObjectOf, withRules } from '../kind.ts';
import { contractSpec, INFRASTRUCTURE, provisionedStatus } from './infrastructure.ts';

const path = (description: string) =>
  z
    .string()
    .min(2)
    .max(1024)
    .regex(/^\/[-+._~/0-9A-Za-z]+$/)
    .describe(description);

const cidrs = (description: string) =>
  z
    .string()
    .min(9)
    .max(100)
    .regex(/^[0-9a-fA-F.:]+\/[0-9]{1,3}(,[0-9a-fA-F.:]+\/[0-9]{1,3})?$/)
    .describe(description);

const ssh = z.object({
  address: z
    .string()
    .min(1)
    .max(253)
    .regex(/^[0-9A-Za-z]([-.:0-9A-Za-z]*[0-9A-Za-z])?$/)
    .describe('Name or address of the machine; the API server is reached there too.'),
  port: z.int().min(1).max(65535).meta({ format: 'int32' }).default(22).describe('Port of its SSH server.'),
  user: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[a-zA-Z_][-.a-zA-Z0-9_]*$/)
    .default('root')
    .describe('User to log in as: root, or one with sudo that asks for no password.'),
  keySecretRef: z
    .object({
      name: dnsSubdomain.describe('Name of the Secret, in the namespace of this object.'),
      key: z.string().min(1).max(253).default('ssh-privatekey').describe('Entry of the Secret.'),
    })
    .describe('The private key, as in a Secret of the type kubernetes.io/ssh-auth.'),
  hostKey: z
    .string()
    .max(64)
    .regex(/^SHA256:[0-9A-Za-z+/]{43}$/)
    .optional()
    .describe(
      'Fingerprint of the machine, as `ssh-keygen -lf` prints it. Without it the first one seen is remembered, and another one is refused.',
    ),
});

/** What Rookery sets itself; a second opinion would break what it promises. */
const OWN_FLAGS =
  'config|data-dir|token|token-file|agent-token|agent-token-file|https-listen-port|write-kubeconfig|write-kubeconfig-mode|server|cluster-init|disable-agent|rootless|docker|container-runtime-endpoint|disable|tls-san|cluster-cidr|service-cidr';

export const k3sCluster = defineKind({
  ...INFRASTRUCTURE,
  kind: 'K3sCluster',
  plural: 'k3sclusters',
  shortNames: ['k3sc'],
  description:
    'A K3sCluster is a Kubernetes cluster of one Linux machine that is given to it: k3s as a service of that machine, reached over SSH or the one Rookery runs on (as root). One machine has one cluster.',
  spec: withRules(
    z.object({
      ...contractSpec,
      host: withRules(
        z
          .object({
            local: z.boolean().optional().describe('The machine Rookery runs on.'),
            ssh: ssh.optional().describe('Another machine, over SSH.'),
          })
          .default({}),
        {
          rule: '!(has(self.local) && self.local && has(self.ssh))',
          message: 'give either local or ssh, not both',
        },
        {
          rule: 'has(self.ssh) == has(oldSelf.ssh) && (!has(self.ssh) || (self.ssh.address == oldSelf.ssh.address && self.ssh.port == oldSelf.ssh.port))',
          message: 'the machine cannot be changed: a cluster does not move',
          reason: 'FieldValueForbidden',
        },
      ).describe('The machine; neither local nor ssh means the one Rookery runs on.'),
      kubernetesVersion: kubernetesVersion
        .optional()
        .describe('Kubernetes version; 1.35 means the newest 1.35 of k3s that is found, v1.35.0+k3s1 exactly that.'),
      binary: path(
        'The k3s program to use: a path on the machine Rookery runs on or, where there is none, on the host. Without it, programs called k3s are looked for on PATH, in ROOKERY_TOOLS and on the host.',
      ).optional(),
      airgapImages: listSet(path('A file.'))
        .max(20)
        .optional()
        .describe(
          'Archives of images that k3s imports before it starts, such as k3s-airgap-images-amd64.tar.zst: paths here or, where there is none, on the host.',
        ),
      dataDir: withRules(
        path('Where k3s keeps everything.').default('/var/lib/rancher/k3s'),
        {
          rule: "!self.matches('^/+(bin|boot|dev|etc|home|lib|lib64|proc|root|run|sbin|srv|sys|tmp|usr|var|var/lib|var/lib/rookery|var/lib/kubelet)/*$') && !self.matches('(^|/)[.][.]?(/|$)')",
          message: 'must be a folder of its own: everything in it is deleted with the cluster',
        },
        { rule: 'self == oldSelf', message: 'dataDir cannot be changed', reason: 'FieldValueForbidden' },
      ).describe(
        'Where k3s keeps everything on the host. It must be empty or not there at first, and is deleted with the cluster.',
      ),
      port: immutable(z.int().min(1).max(65535).meta({ format: 'int32' }).default(6443), 'port').describe(
        'Port of the API server.',
      ),
      disable: listSet(z.enum(['traefik', 'servicelb', 'metrics-server', 'coredns', 'local-storage', 'runtimes']))
        .max(6)
        .optional()
        .describe('Parts of k3s to leave out.'),
      tlsSans: listSet(z.string().min(1).max(253))
        .max(50)
        .optional()
        .describe('More names and addresses under which the API server is reached.'),
      clusterCIDR: immutable(cidrs('Address range of pods.'), 'clusterCIDR')
        .optional()
        .describe('Address range of pods.'),
      serviceCIDR: immutable(cidrs('Address range of Services.'), 'serviceCIDR')
        .optional()
        .describe('Address range of Services.'),
      k3sArgs: withRules(
        z
          .array(
            z
              .string()
              .min(3)
              .max(1024)
              .regex(/^--[a-z0-9][-a-z0-9]*(=[^\n]*)?$/),
          )
          .max(64),
        {
          rule: `self.all(arg, !arg.matches('^--(${OWN_FLAGS})(=|$)'))`,
          message: 'a flag that Rookery sets itself: use the field of the spec for it',
        },
      )
        .optional()
        .describe('More flags of `k3s server`, each as one word: `--kubelet-arg=max-pods=50`.'),
      containerdTemplate: z
        .string()
        .max(65536)
        .optional()
        .describe(
          'Template of the configuration of containerd, for hosts that need more than k3s writes; used as config-v3.toml.tmpl or, when it says `version = 2`, as config.toml.tmpl.',
        ),
      supervision: immutable(z.enum(['auto', 'systemd', 'process']).default('auto'), 'supervision').describe(
        'What keeps k3s running: a service of systemd, or a small supervisor of ours where there is no systemd. auto takes systemd where it runs.',
      ),
    }),
    {
      rule: 'has(self.clusterCIDR) == has(oldSelf.clusterCIDR) && has(self.serviceCIDR) == has(oldSelf.serviceCIDR)',
      message: 'clusterCIDR and serviceCIDR cannot be added or removed later',
      reason: 'FieldValueForbidden',
    },
    {
      rule: '!has(self.clusterCIDR) || !has(self.serviceCIDR) || self.clusterCIDR != self.serviceCIDR',
      message: 'pods and Services need address ranges of their own',
    },
  ).describe('What the cluster shall be.'),
  status: z.object(provisionedStatus).describe('What the cluster is.'),
  columns: [
    { name: 'Host', jsonPath: '.spec.host.ssh.address' },
    { name: 'Version', jsonPath: '.status.version' },
    { name: 'Ready', jsonPath: '.status.ready', type: 'boolean' },
    { name: 'Port', jsonPath: '.spec.port', type: 'integer', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ],
  example: `apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: K3sCluster
metadata:
  name: edge
  namespace: default
spec:
  host:
    ssh:
      address: 10.0.0.7
      keySecretRef:
        name: edge-ssh-key
  kubernetesVersion: "1.35"
  disable: [traefik, servicelb]
`,
});

export type K3sCluster = ObjectOf<typeof k3sCluster>;

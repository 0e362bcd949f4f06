/** How workspaces of a template behave; an instance may override parts of it. */
import { z } from 'zod';
import { duration, kubernetesVersion, quantity } from '../fields.ts';
import { withRules } from '../kind.ts';

export const lifecycle = z
  .object({
    mode: z
      .enum(['persistent', 'ephemeral'])
      .optional()
      .describe('`ephemeral` workspaces are deleted when their time is up, `persistent` ones survive the session.'),
    ttl: duration('Time to live, counted from the start, such as 2h. Without it a workspace has no end.').optional(),
    idleSuspend: z
      .boolean()
      .optional()
      .describe('Suspend the workspace while nobody uses it (no terminal input, no API calls) to save resources.'),
  })
  .describe('How long a workspace lives.');

export const isolation = withRules(
  z.object({
    mode: z
      .enum(['individual', 'team'])
      .default('individual')
      .describe('One workspace per person. `team` is reserved for later and refused today.'),
  }),
  {
    rule: "!has(self.mode) || self.mode != 'team'",
    message: 'team isolation is reserved and not available yet; use individual',
  },
).describe('Who shares a workspace.');

export const nestedCluster = withRules(
  z.object({
    mode: z
      .enum(['none', 'per-workspace', 'shared'])
      .default('none')
      .describe('`none`: no cluster. `per-workspace`: one of its own. `shared`: a namespace in a cluster all share.'),
    version: kubernetesVersion
      .optional()
      .describe('Kubernetes version of the nested cluster; 1.35 means the newest 1.35 patch that can be had.'),
    provisioner: z
      .enum(['auto', 'virtual', 'k3d', 'kind', 'vcluster'])
      .optional()
      .describe(
        'How the nested cluster is made. `auto` (default): k3d or kind where there is Docker, simulated where there is none.',
      ),
  }),
  {
    rule: "!has(self.version) || (has(self.mode) && self.mode != 'none')",
    message: 'a version needs a cluster: set mode to per-workspace or shared, or remove version',
  },
).describe('The Kubernetes cluster a workspace comes with.');

/** Less than Docker takes, and than any shell runs in; mostly it is `512m`, which is half a byte. */
const bytes = (description: string) =>
  withRules(quantity(description), {
    rule: "isQuantity(self) && quantity(self).compareTo(quantity('6Mi')) >= 0",
    message: 'must be at least 6Mi, such as 512Mi or 2Gi (m would be thousandths of a byte)',
  });

export const resources = z
  .object({
    cpu: withRules(quantity('CPU limit of each container, such as 500m.'), {
      rule: "isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))",
      message: 'must be above zero, such as 500m or 2',
    }).optional(),
    memory: bytes('Memory limit of each container, such as 512Mi.').optional(),
    disk: bytes('How much the workspace may write, such as 2Gi; where the file system can count it.').optional(),
  })
  .describe('Limits; enforced where the backend can.');

export const access = z
  .object({
    webTerminal: z.boolean().optional().describe('Offer a terminal in the browser.'),
  })
  .describe('How people get into a workspace.');

export const workspaceDefaults = z.object({
  lifecycle: lifecycle.optional(),
  isolation: isolation.optional(),
  cluster: nestedCluster.optional(),
  resources: resources.optional(),
  access: access.optional(),
});

/** Dotted paths below `defaults` that an instance may override. */
export const overridable = [
  'lifecycle.mode',
  'lifecycle.ttl',
  'lifecycle.idleSuspend',
  'isolation.mode',
  'cluster.mode',
  'cluster.version',
  'cluster.provisioner',
  'resources.cpu',
  'resources.memory',
  'resources.disk',
  'access.webTerminal',
] as const;

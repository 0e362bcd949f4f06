/** Fields that several kinds share, described once. */
import { z } from 'zod';
import { listMap, withRules } from './kind.ts';

export const condition = z.object({
  type: z
    .string()
    .max(316)
    .regex(
      /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
    )
    .describe('What the condition is about, in CamelCase.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  observedGeneration: z.int().min(0).optional().describe('The generation of the object it was made from.'),
  lastTransitionTime: time('When the status last changed.'),
  reason: z.string().min(1).max(1024).describe('Why, in one CamelCase word for programs.'),
  message: z.string().max(32768).describe('Why, for people: what blocks, since when, what happens next.'),
});

export const conditions = listMap(condition, 'type').max(32).optional().describe('What is true of the object now.');

export const observedGeneration = z.int().optional().describe('The generation this status was made from.');

export function time(description: string) {
  return z.string().meta({ format: 'date-time' }).describe(description);
}

/** A Go duration such as `2h` or `1h30m`; bounded so that its rule stays cheap. */
export function duration(description: string) {
  return withRules(
    z
      .string()
      .min(2)
      .max(32)
      .regex(/^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/)
      .describe(description),
    { rule: "duration(self) > duration('0s')", message: 'must be a duration above zero, such as 30m, 2h or 1h30m' },
  );
}

export const dnsSubdomain = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);

/** A resource quantity such as `500m` or `512Mi`. */
export function quantity(description: string) {
  return z
    .string()
    .max(64)
    .regex(/^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/)
    .describe(description);
}

/** `v1.35.0`, `1.35` or `1.35.0+k3s1`. */
export const kubernetesVersion = z
  .string()
  .min(1)
  .max(256)
  .regex(/^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)([-+][0-9A-Za-z.+-]+)?)?$/);

export const endpoint = z
  .object({
    host: z.string().min(1).max(512).optional().describe('Host name or address.'),
    port: z.int().min(1).max(65535).meta({ format: 'int32' }).optional().describe('Port.'),
  })
  .describe('Where the API server of the cluster is reached.');

/** Refers to a provider object in the same namespace, as Cluster API v1beta2 does: no version, no namespace. */
export const contractReference = z.object({
  apiGroup: dnsSubdomain.describe('API group of the referenced kind.'),
  kind: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/)
    .describe('The referenced kind.'),
  name: dnsSubdomain.describe('Name of the referenced object.'),
});

export const failureDomains = listMap(
  z.object({
    name: z.string().min(1).max(256).describe('Name of the failure domain.'),
    controlPlane: z.boolean().optional().describe('Whether control plane machines may be placed there.'),
    attributes: z.record(z.string(), z.string()).optional().describe('What the provider has to say about it.'),
  }),
  'name',
)
  .min(1)
  .max(100)
  .optional()
  .describe('Places that fail independently of each other.');

export const labelSelector = z
  .object({
    matchLabels: z.record(z.string(), z.string()).optional().describe('Labels that must have exactly these values.'),
    matchExpressions: z
      .array(
        z.object({
          key: z.string().describe('The label.'),
          operator: z.string().describe('In, NotIn, Exists or DoesNotExist.'),
          values: z.array(z.string()).meta({ 'x-kubernetes-list-type': 'atomic' }).optional().describe('The values.'),
        }),
      )
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .optional()
      .describe('Conditions on labels; all must hold.'),
  })
  .meta({ 'x-kubernetes-map-type': 'atomic' });

export function intOrString(description: string) {
  return z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }).describe(description);
}

export function replicas(description: string) {
  return z.int().min(0).meta({ format: 'int32' }).describe(description);
}

export function secondsField(description: string) {
  return z.int().min(0).meta({ format: 'int32' }).describe(description);
}

/** What an author writes: `workshop.yaml`, and a folder for each step with `step.yaml`, `content.md` and what else it needs. */
import { z } from 'zod';

const id = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(63, 'must have at most 63 characters')
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be made of small letters, digits and dashes, such as step-1-intro');

const text = (most: number) =>
  z.string('must be a text').min(1, 'must not be empty').max(most, `must have at most ${most} characters`);

const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, `must be one of: ${values.join(', ')}`);

const version = z
  .union([z.string(), z.number()], 'must be a version such as "1.35"')
  .transform(String)
  .pipe(z.string().regex(/^v?\d+\.\d+(\.\d+)?([-+].+)?$/, 'must be a version such as "1.35" or v1.35.8'));

const duration = z
  .string('must be a duration such as 2h')
  .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/, 'must be a duration such as 30m, 2h or 1h30m');

const amount = (such: string) =>
  z
    .string(`must be an amount such as ${such}, as a text`)
    .regex(/^(\d+\.?\d*|\.\d+)([eE]\d+|[numkMGTPE]|[KMGTPE]i)?$/, `must be an amount such as ${such}`);

export const workshopSchema = z
  .strictObject(
    {
      version: z.literal('v1', 'must be v1'),
      workshop: z.strictObject(
        {
          name: id,
          title: text(256).optional(),
          description: text(4096).optional(),
          image: text(255)
            .regex(/^[a-z0-9][a-z0-9._:/-]*$/, 'must be an image name without a tag, such as myorg/kubernetes-101')
            .optional(),
          navigation: oneOf('linear', 'free', 'guided').default('linear'),
        },
        'is required',
      ),
      base: z
        .strictObject({ image: text(512).optional(), containerFile: text(1024).optional() })
        .refine((base) => !base.image !== !base.containerFile, 'must have either image or containerFile')
        .optional(),
      lifecycle: z
        .strictObject({
          mode: oneOf('persistent', 'ephemeral').optional(),
          ttl: duration.optional(),
          idleSuspend: z.boolean('must be true or false').optional(),
        })
        .optional(),
      resources: z
        .strictObject({
          cpu: amount('500m or "2"').optional(),
          memory: amount('512Mi').optional(),
          disk: amount('2Gi').optional(),
        })
        .optional(),
      infrastructure: z
        .strictObject({
          cluster: z
            .strictObject({
              enabled: z.boolean('must be true or false').default(true),
              mode: oneOf('per-workspace', 'shared').default('per-workspace'),
              provider: oneOf('auto', 'virtual', 'k3d', 'kind', 'vcluster').default('auto'),
              version: version.optional(),
            })
            .optional(),
        })
        .optional(),
      steps: z.array(id, 'must be a list of step ids').min(1, 'must name at least one step').max(200),
    },
    'must be a mapping with version, workshop and steps',
  )
  .superRefine(({ steps }, context) => {
    for (const [index, step] of steps.entries()) {
      if (steps.indexOf(step) < index) {
        context.addIssue({ code: 'custom', path: ['steps', index], message: `is there twice: ${step}` });
      }
    }
  });

export const stepSchema = z.strictObject(
  {
    title: text(256),
    group: text(256).optional(),
    requires: z.array(id).optional(),
    cluster: oneOf('keep', 'reset', 'restore').optional(),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of a variable'), z.coerce.string())
      .optional(),
    files: z
      .array(
        z.strictObject({
          source: text(1024),
          target: text(256)
            .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), {
              message: 'must stay below the home folder: no leading slash and no ..',
            })
            .optional(),
          mode: z
            .string()
            .regex(/^0?[0-7]{3}$/, 'must be permissions such as "0755"')
            .optional(),
        }),
      )
      .optional(),
    commands: z.array(text(16384)).optional(),
    checks: z
      .array(
        z.strictObject({
          name: text(253),
          run: text(16384),
          exitCode: z.int().min(0).max(255).optional(),
          stdout: z.array(text(1024)).optional(),
          timeoutSeconds: z.int().min(1).max(600).optional(),
          hint: text(4096).optional(),
        }),
      )
      .optional(),
  },
  'must be a mapping with at least a title',
);

export type WorkshopDefinition = z.output<typeof workshopSchema>;
export type StepDefinition = z.output<typeof stepSchema>;

/** What a step brings besides its image, taken over from the compiled workshop so that no artifact is needed while it runs. */
import { z } from 'zod';
import { listMap, withRules } from '../kind.ts';

const check = z.object({
  name: z.string().min(1).max(253).describe('What is checked, for people.'),
  run: z.string().min(1).max(16384).describe('Shell command that is run in the workspace.'),
  exitCode: z.int().min(0).max(255).default(0).describe('Exit code it must end with.'),
  stdout: z
    .array(z.string().max(1024))
    .max(50)
    .optional()
    .describe('What its output must contain; `/…/` is a regular expression, `!` before it means must not.'),
  timeoutSeconds: z.int().min(1).max(600).default(10).meta({ format: 'int32' }).describe('How long it may take.'),
  hint: z.string().max(4096).optional().describe('What helps when it fails.'),
});

const file = withRules(
  z.object({
    path: z.string().min(1).max(256).describe('Where it goes, relative to the home folder of the workspace.'),
    content: z.string().max(262144).describe('What is in it.'),
    mode: z
      .string()
      .regex(/^0?[0-7]{3}$/)
      .optional()
      .describe('Its permissions, such as 0755.'),
  }),
  {
    rule: "!self.path.startsWith('/') && self.path != '..' && !self.path.startsWith('../') && !self.path.contains('/../') && !self.path.endsWith('/..')",
    message: 'must stay below the home folder: no leading slash and no ..',
    fieldPath: '.path',
  },
);

export const stepContents = {
  group: z.string().max(256).optional().describe('The chapter it belongs to.'),
  requires: z
    .array(z.string().max(63))
    .max(50)
    .optional()
    .describe('Steps that have to be done before this one is entered.'),
  content: z.string().max(262144).optional().describe('Instructions, as Markdown.'),
  hints: z.string().max(65536).optional().describe('Hints, as Markdown.'),
  solution: z.string().max(65536).optional().describe('The solution, as Markdown.'),
  env: z.record(z.string(), z.string()).optional().describe('Environment of the shell.'),
  files: listMap(file, 'path').max(64).optional().describe('Files put into the home folder when the step begins.'),
  manifests: z
    .string()
    .max(262144)
    .optional()
    .describe('Objects applied to the nested cluster when the step begins, as YAML.'),
  checks: listMap(check, 'name').max(50).optional().describe('What has to hold for the step to be passed.'),
};

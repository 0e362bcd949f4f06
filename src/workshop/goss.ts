/** Checks written for goss (`goss.yaml`): its `command` and `file` resources, as far as a shell can carry them out. */
import { z } from 'zod';

const matcher = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (Array.isArray(value) ? value : [value]));

export const gossSchema = z.strictObject(
  {
    command: z
      .record(
        z.string(),
        z.strictObject({
          exec: z.string().optional(),
          'exit-status': z.int().min(0).max(255).default(0),
          stdout: matcher.optional(),
          stderr: matcher.optional(),
          timeout: z.int().min(1).max(600_000).default(10_000),
          skip: z.boolean().default(false),
        }),
      )
      .optional(),
    file: z
      .record(
        z.string(),
        z.strictObject({
          exists: z.boolean().default(true),
          contains: matcher.optional(),
          contents: matcher.optional(),
          mode: z.coerce.string().optional(),
        }),
      )
      .optional(),
  },
  'must be a mapping with command or file',
);

export interface Check {
  name: string;
  run: string;
  exitCode?: number;
  stdout?: string[];
  timeoutSeconds?: number;
  hint?: string;
}

export function gossChecks({ command = {}, file = {} }: z.output<typeof gossSchema>): Check[] {
  const commands = Object.entries(command)
    .filter(([, { skip }]) => !skip)
    .map(([name, { exec = name, 'exit-status': exitCode, stdout, stderr, timeout }]) => ({
      name,
      run: stderr ? `${exec} 2>&1` : exec,
      exitCode,
      ...(stdout || stderr ? { stdout: [...(stdout ?? []), ...(stderr ?? [])] } : {}),
      timeoutSeconds: Math.ceil(timeout / 1000),
    }));
  const files = Object.entries(file).flatMap(([path, { exists, contains, contents, mode }]): Check[] => {
    const quoted = `'${path.replaceAll("'", `'\\''`)}'`;
    if (!exists) return [{ name: `${path} is absent`, run: `test ! -e ${quoted}` }];
    const texts = contains ?? contents;
    return [
      { name: `${path} exists`, run: `test -e ${quoted}` },
      ...(texts ? [{ name: `${path} contains what it should`, run: `cat ${quoted}`, stdout: texts }] : []),
      ...(mode ? [{ name: `${path} has mode ${mode}`, run: `stat -c %04a ${quoted}`, stdout: [mode] }] : []),
    ];
  });
  return [...commands, ...files];
}

/** The `rookery` command. Only what `--help` needs is loaded here; each command loads the rest when it runs. */

import { reportFailure } from './cli/failure.ts';
import { buildProgram } from './cli/program.ts';

const program = buildProgram();
try {
  await program.parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(error, program.opts<{ output?: string }>().output);
}

/** The `rookery` command. Only what `--help` needs is loaded here; each command loads the rest when it runs. */

import { reportFailure } from './cli/failure.ts';
import { buildProgram } from './cli/program.ts';

endWithReader();
void run();

async function run(): Promise<void> {
  const program = buildProgram();
  // A command is over when it says so: the timers it waits on do not keep a process alive by themselves.
  const alive = setInterval(() => {}, 60_000);
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = reportFailure(error, program.opts<{ output?: string }>().output);
  } finally {
    clearInterval(alive);
  }
}

/** When whoever read has gone, as `head` does, the command ends as when it is asked to, with what it cleans up then. */
function endWithReader(): void {
  let isAsked = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // Output that cannot be written (a full disk) is a failure of the command, and nothing a server ends for.
      if (error.code !== 'EPIPE') {
        process.exitCode = 1;
        return;
      }
      if (!isAsked) process.kill(process.pid, 'SIGTERM');
      isAsked = true;
    });
  }
}

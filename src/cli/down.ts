/** `rookery down`: stops a control plane that serves, and one that is only starting. */
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, readState, type State } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { print } from './output.ts';

const PATIENCE_MS = 15_000;

export async function down(options: GlobalOptions): Promise<void> {
  const home = homeOf(options);
  const state = await readState(home);
  if (!state || state.command) return print(options.output, { stopped: false }, () => notRunning(state));
  process.kill(state.pid, 'SIGTERM');
  const end = Date.now() + PATIENCE_MS;
  while (isAlive(state)) {
    if (Date.now() > end) {
      throw new RookeryError('down.stuck', `the control plane (pid ${state.pid}) does not stop`, {
        hint: `its log is ${home.log}; kill -9 ${state.pid} is safe: no acknowledged write is lost`,
      });
    }
    await delay(50);
  }
  await print(
    options.output,
    { stopped: true, pid: state.pid },
    () => 'stopped; everything is kept for the next `rookery up`\n',
  );
}

/** A command that hosts one is somebody's work: it ends by itself, or by Ctrl-C where it runs. */
function notRunning(host: State | undefined): string {
  if (!host) return 'no control plane is running\n';
  return `no control plane is running but the one that \`${host.command}\` (pid ${host.pid}) hosts until it ends\n`;
}

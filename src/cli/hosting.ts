/** A control plane inside a command, for as long as the command runs. */
import { loadConfig } from '../config.ts';
import { ControlPlane } from '../embedded/control-plane.ts';
import type { Home } from '../embedded/home.ts';
import { removeState, type State, writeServing, writeStopping } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import type { ObjectStore } from '../kube/index.ts';
import { silentLogger, terminalLogger } from '../telemetry/log.ts';
import type { GlobalOptions } from './connect.ts';

export interface Hosted {
  state: State;
  store: ObjectStore;
  plane: ControlPlane;
  close(): Promise<void>;
}

/** The home is claimed already; it is given back with `close`, or when the start fails. */
export async function host(
  options: GlobalOptions,
  home: Home,
  facts: Pick<State, 'startedAt' | 'version' | 'command'>,
): Promise<Hosted> {
  try {
    const plane = await startSomewhere(options);
    await writeServing(home, { ...facts, url: plane.url });
    const state: State = { pid: process.pid, pidStartedAt: '', phase: 'serving', url: plane.url, ...facts };
    const close = async () => {
      await writeStopping(home, facts);
      try {
        await plane.close();
      } finally {
        await removeState(home);
      }
    };
    return { state, store: plane.store, plane, close };
  } catch (error) {
    await removeState(home);
    throw error;
  }
}

/** At the usual port, where the kubeconfigs of virtual clusters lead; at any other when that is taken. */
async function startSomewhere(options: GlobalOptions): Promise<ControlPlane> {
  const config = loadConfig(process.env, { home: options.home });
  // Its warnings are about what the command reports anyway, and would run into its output.
  const log = process.env.ROOKERY_LOG_LEVEL
    ? terminalLogger(config.logLevel, (line) => void process.stderr.write(line))
    : silentLogger;
  try {
    return await ControlPlane.start({ config, log });
  } catch (error) {
    if (!(error instanceof RookeryError) || error.code !== 'up.port') throw error;
    return await ControlPlane.start({ config: { ...config, port: 0 }, log });
  }
}

/** The control plane a command talks to: the running one of this home, or the cluster a kubeconfig names. */
import { loadConfig } from '../config.ts';
import { Home } from '../embedded/home.ts';
import { readState, type State } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import { loadKubeconfig, type ObjectStore, RemoteStore } from '../kube/index.ts';
import type { OutputFormat } from './output.ts';

export interface GlobalOptions {
  home?: string;
  output: OutputFormat;
}

export interface Connected {
  home: Home;
  state: State;
  store: ObjectStore;
  close(): Promise<void>;
}

export function homeOf(options: GlobalOptions): Home {
  return new Home(loadConfig(process.env, { home: options.home }).home);
}

export async function connect(options: GlobalOptions): Promise<Connected> {
  const home = homeOf(options);
  const state = await readState(home);
  if (!state) {
    throw new RookeryError('control-plane.down', 'no control plane is running', {
      class: 'user',
      hint: 'start one with `rookery up --detach` (or `rookery up` in another terminal)',
    });
  }
  const store = new RemoteStore({ connection: await loadKubeconfig({ file: home.kubeconfig }) });
  return { home, state, store, close: () => store.close() };
}

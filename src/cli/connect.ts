/**
 * The control plane a command talks to: the running one of this home, or, where none runs, one that the command hosts itself for as long as
 * it needs it. A command that found another command's takes over when that one ends.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../config.ts';
import type { ControlPlane } from '../embedded/control-plane.ts';
import { Home } from '../embedded/home.ts';
import { claimHome, readState, type State } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import { loadKubeconfig, type ObjectStore, RemoteStore } from '../kube/index.ts';
import { HandoverStore } from './handover-store.ts';
import { listenForInterrupts } from './interrupt.ts';
import type { OutputFormat } from './output.ts';
import { rookeryVersion } from './version.ts';

export interface GlobalOptions {
  home?: string;
  output: OutputFormat;
}

export interface Connected {
  home: Home;
  state: State;
  store: ObjectStore;
  /** Where it serves. */
  url: string;
  /** No `rookery up` serves: what answers only inside a control plane ends with this command. */
  isHosted: boolean;
  /** Present when this very command hosts the control plane. */
  plane?: ControlPlane;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** From now on Ctrl-C is for a program that this command has started. */
  ignoreInterrupts(): void;
  close(): Promise<void>;
}

type Access = Pick<Connected, 'state' | 'store' | 'plane' | 'close'>;

const START_PATIENCE_MS = 30_000;

export function homeOf(options: GlobalOptions): Home {
  return new Home(loadConfig(process.env, { home: options.home }).home);
}

export async function connect(options: GlobalOptions): Promise<Connected> {
  const home = homeOf(options);
  const { signal, ignoreInterrupts, stopListening } = listenForInterrupts();
  try {
    const first = await reach(options, home, signal);
    if (!first.state.command) {
      const close = () => first.close().finally(stopListening);
      return { ...first, url: first.state.url, home, signal, ignoreInterrupts, isHosted: false, close };
    }
    const store = new HandoverStore(first, () => reach(options, home, signal));
    const close = () => store.close().finally(stopListening);
    const { state, plane } = first;
    return { home, state, url: state.url, plane, store, signal, ignoreInterrupts, isHosted: true, close };
  } catch (error) {
    stopListening();
    throw error;
  }
}

async function reach(options: GlobalOptions, home: Home, signal: AbortSignal): Promise<Access> {
  for (const end = Date.now() + START_PATIENCE_MS; ; await delay(50, undefined, { signal })) {
    const state = await readState(home);
    if (state?.phase === 'serving') return remote(home, state);
    if (Date.now() > end) throw slowStart(state);
    if (state) continue;
    const facts = { startedAt: new Date().toISOString(), version: rookeryVersion(), command: commandLine() };
    if (await claimHome(home, facts)) continue;
    return (await import('./hosting.ts')).host(options, home, facts);
  }
}

async function remote(home: Home, state: State): Promise<Access> {
  const store = new RemoteStore({ connection: await loadKubeconfig({ file: home.kubeconfig }) });
  return { state, store, close: () => store.close() };
}

/** For people who wonder what has the home: `rookery cluster create demo`. */
function commandLine(): string {
  return ['rookery', ...process.argv.slice(2)].join(' ').slice(0, 200);
}

function slowStart(state: State | undefined): RookeryError {
  const who = state ? ` (pid ${state.pid})` : '';
  return new RookeryError('control-plane.starting', `the control plane${who} has been starting for too long`, {
    class: 'retryable',
    hint: 'see `rookery status`; `rookery down` stops it',
  });
}

/** `rookery up`: the control plane in this terminal, or left running in the background. */
import { spawn } from 'node:child_process';
import { existsSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pc from 'picocolors';
import { clusters } from '../api/resources.ts';
import { isStoreTrouble } from '../apiserver/index.ts';
import { type Config, loadConfig } from '../config.ts';
import { ControlPlane, type ControlPlaneOptions } from '../embedded/control-plane.ts';
import { Home } from '../embedded/home.ts';
import { claimHome, readState, removeState, type State, writeServing, writeStopping } from '../embedded/state-file.ts';
import { makeHome } from '../embedded/usable-home.ts';
import { RookeryError } from '../errors.ts';
import { requestCluster } from '../provisioners/request-cluster.ts';
import { jsonLogger, terminalLogger } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { writePrivate } from '../vault/files.ts';
import { plannedBackups, startBackups } from './backup-schedule.ts';
import { writeKubeconfig } from './cluster-lookup.ts';
import { waitForCluster } from './cluster-wait.ts';
import type { GlobalOptions } from './connect.ts';
import { print } from './output.ts';
import { rookeryVersion } from './version.ts';
import { wayNamed } from './ways.ts';

interface UpOptions extends GlobalOptions {
  detach?: boolean;
  port?: number;
  host?: string;
  demo: boolean;
  backupEvery?: number;
  backupKeep?: number;
  backupFolder?: string;
  backupKeyFile?: string;
}

/** Options that a control plane takes when it starts. */
const SETTINGS = ['port', 'host', 'backupEvery', 'backupKeep', 'backupFolder', 'backupKeyFile'] as const;
const DEMO = 'demo';
const START_PATIENCE_MS = 30_000;
/** Less than `rookery down` waits. No acknowledged write is lost when it is over: they are in the stores already. */
const STOP_PATIENCE_MS = 12_000;
const STOPPED = Symbol('asked to stop');

export async function up(options: UpOptions): Promise<void> {
  const config = loadConfig(process.env, options);
  plannedBackups(config);
  const home = new Home(config.home);
  if (options.detach) return detach(options, home);
  // Heard from the beginning: a stop during the start is a clean one too.
  const stopped = stopSignal();
  const facts = { startedAt: new Date().toISOString(), version: rookeryVersion() };
  const running = await claimed(home, facts, stopped);
  if (running === STOPPED) return;
  if (running) return sayAlreadyUp(options, home, running);
  try {
    if (!(await isAsked(stopped))) await serve(options, config, home, facts, stopped);
  } finally {
    await removeState(home);
  }
}

/**
 * Undefined once the home is ours; a control plane that serves it already otherwise. Waits for one that starts, or that a command hosts.
 * A claim under way is never left behind: a stop in its middle ends in a home that is ours, and given back.
 */
async function claimed(
  home: Home,
  facts: Pick<State, 'startedAt' | 'version'>,
  stopped: Promise<typeof STOPPED>,
): Promise<State | undefined | typeof STOPPED> {
  const tell = tellOnce();
  for (;;) {
    const holder = await claimHome(home, facts);
    if (!holder || isServing(holder)) return holder;
    tell(holder);
    if ((await Promise.race([stopped, delay(50)])) === STOPPED) return STOPPED;
  }
}

async function isAsked(stopped: Promise<typeof STOPPED>): Promise<boolean> {
  return (await Promise.race([stopped, undefined])) === STOPPED;
}

async function serve(
  options: UpOptions,
  config: Config,
  home: Home,
  facts: Pick<State, 'startedAt' | 'version'>,
  stopped: Promise<typeof STOPPED>,
): Promise<void> {
  const log = process.stderr.isTTY
    ? terminalLogger(config.logLevel, (line) => void process.stderr.write(line))
    : jsonLogger({ level: config.logLevel });
  let webUrl: string | undefined;
  const terminals: ControlPlaneOptions['terminals'] = async (parts) => {
    const { serveWorkspaces } = await import('../http/index.ts');
    const { trustedProxies, publicUrl } = config;
    const address = { address: config.host, port: config.webPort, trustedProxies, publicUrl };
    const served = await serveWorkspaces({ ...parts, ...address, log });
    webUrl = served.localUrl;
    return served;
  };
  let stopBackups = () => {};
  const plane = await ControlPlane.start({ config, log, metrics: createMetrics(), terminals });
  try {
    await refreshKubeconfigs(plane, home);
    const demo = options.demo ? await Promise.race([stopped, ensureDemo(plane, home)]) : undefined;
    if (demo === STOPPED) return;
    const backups = plannedBackups(config);
    await writeServing(home, { ...facts, url: plane.url, webUrl, ...(backups ? { backups } : {}) });
    if (backups) stopBackups = startBackups(config, backups, log);
    await say(options, welcome(home, plane.url, demo), {
      running: true,
      url: plane.url,
      kubeconfig: home.kubeconfig,
      demo,
    });
    await stopped;
  } finally {
    stopBackups();
    await writeStopping(home, facts);
    await plane.close();
  }
}

function isServing(state: State | undefined): state is State {
  return state?.phase === 'serving' && state.command === undefined;
}

function tellOnce(): (holder: State) => void {
  let isTold = false;
  return ({ command, pid }) => {
    if (!isTold && command) process.stderr.write(`waiting for \`${command}\` (pid ${pid}), which uses this home\n`);
    isTold ||= command !== undefined;
  };
}

/** Files written for another port would lead nowhere: those of clusters that are still here are written again. */
async function refreshKubeconfigs(plane: ControlPlane, home: Home): Promise<void> {
  const folder = dirname(home.clusterKubeconfig(''));
  const files = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of files.map((file) => file.replace(/\.kubeconfig$/, ''))) {
    const file = home.clusterKubeconfig(name);
    if (!plane.clusters.has(name) || readFileSync(file, 'utf8').includes(plane.urlOf(name))) continue;
    try {
      await writePrivate(file, await plane.kubeconfig(name));
    } catch (error) {
      // Its conditions and the log say what is lost; the other clusters need the control plane.
      if (!isStoreTrouble(error)) throw error;
    }
  }
}

/** The first cluster, so that one command ends in something that answers kubectl. */
async function ensureDemo(plane: ControlPlane, home: Home): Promise<string | undefined> {
  const { items } = await plane.store.list(clusters, { limit: 1 });
  if (items.length > 0) return undefined;
  const key = { namespace: 'default', name: DEMO };
  await requestCluster(plane.store, wayNamed('virtual'), key);
  await waitForCluster(plane.store, key, { timeoutMs: START_PATIENCE_MS });
  return writeKubeconfig(home, plane, key.namespace, key.name);
}

/** Starts the same command without --detach in a process of its own and waits until it serves. */
async function detach(options: UpOptions, home: Home): Promise<void> {
  const tell = tellOnce();
  let holder = await readState(home);
  for (; holder?.command; holder = await readState(home)) {
    tell(holder);
    await delay(50);
  }
  if (isServing(holder)) return sayAlreadyUp(options, home, holder);
  makeHome(home.path);
  const log = openSync(home.log, 'a', 0o600);
  const before = fstatSync(log).size;
  const args = process.argv.slice(1).filter((arg) => arg !== '-d' && arg !== '--detach');
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  child.unref();
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const end = Date.now() + START_PATIENCE_MS;
  for (;;) {
    const code = await Promise.race([exited, delay(25, undefined)]);
    const state = await readState(home);
    if (isServing(state)) return say(options, alreadyUp(home, state), { running: true, ...state });
    if (code !== undefined || Date.now() > end) {
      const said = readFileSync(home.log).subarray(before).toString().trim();
      throw new RookeryError('up.failed', `the control plane did not start${said && `\n${said}`}`, {
        hint: `its log is ${home.log}`,
      });
    }
  }
}

/** Resolves at the first Ctrl-C or TERM; a second one ends the process at once, and so does a stop that takes too long. */
function stopSignal(): Promise<typeof STOPPED> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = () => {
      if (asked) process.exit(130);
      asked = true;
      resolve(STOPPED);
      setTimeout(() => process.exit(1), STOP_PATIENCE_MS).unref();
      process.stderr.write('\nstopping…\n');
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

function welcome(home: Home, url: string, demo: string | undefined): string {
  return [
    `${pc.green('●')} Rookery is up: ${url}`,
    '',
    ...(demo
      ? [
          'A first cluster, demo, is ready. In another terminal:',
          '',
          `  export KUBECONFIG=${demo}`,
          '  kubectl get namespaces',
          '',
        ]
      : []),
    'More:',
    '  rookery cluster create <name>     another cluster',
    '  rookery cluster list              what there is',
    `  export KUBECONFIG=${home.kubeconfig}   the control plane's own API`,
    '',
    'Ctrl-C stops it; everything is kept.',
  ].join('\n');
}

function alreadyUp(home: Home, state: State): string {
  return [
    `${pc.green('●')} Rookery is up: ${state.url} (pid ${state.pid})`,
    '',
    `  eval "$(rookery kubectl-env ${DEMO})"`,
    '  kubectl get namespaces',
    '',
    `Stop it with \`rookery down\`; its log is ${home.log}.`,
  ].join('\n');
}

/** It runs with the settings it was started with; those named now are not taken, and that is said. */
function sayAlreadyUp(options: UpOptions, home: Home, state: State): Promise<void> {
  const ignored = SETTINGS.filter((name) => options[name] !== undefined).map(flagOf);
  if (ignored.length > 0) {
    process.stderr.write(
      `it was running already, without ${ignored.join(', ')}: stop it with \`rookery down\` first\n`,
    );
  }
  return say(options, alreadyUp(home, state), { running: true, ...state });
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function say(options: UpOptions, text: string, value: unknown): Promise<void> {
  return print(options.output, value, () => `${text}\n`);
}

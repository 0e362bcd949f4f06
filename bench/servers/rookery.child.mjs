/**
 * Our control plane as `rookery up` runs it, from the built files, with two additions for measurements: it answers its
 * parent's questions, and can watch its own event loop. Arguments: folder, port.
 */
import { readFileSync } from 'node:fs';

const [folder, port] = process.argv.slice(2);
const { ControlPlane, createMetrics, jsonLogger, loadConfig, systemClock } = await import(
  new URL('../../dist/embedded.js', import.meta.url)
);

let ahead = 0;
/** Real time that can be put forward, so that sleep comes sooner than in a minute. */
const clock = { now: () => systemClock.now() + ahead, after: systemClock.after };
const config = loadConfig({}, { home: folder, port: Number(port), logLevel: 'warn' });
const plane = await ControlPlane.start({
  config,
  clock,
  log: jsonLogger({ level: config.logLevel }),
  metrics: createMetrics(),
});

/** Of the main thread, ms: on a processor, and ready to run but waiting for one. */
function schedule() {
  const [ran, waited] = readFileSync('/proc/self/schedstat', 'utf8')
    .split(' ')
    .map((ns) => Number(ns) / 1e6);
  return { at: performance.now(), ran, waited };
}

const TICK_MS = 2;
let loop;
let ticking;

/**
 * Every gap between two ticks that is longer than it should be, and what it consists of: computing, waiting for the
 * disk, and waiting for a processor that other programs hold. Only the last is not ours.
 */
function watchLoop() {
  loop = { longest: 0, blocked: 0, computing: 0 };
  clearInterval(ticking);
  let last = schedule();
  ticking = setInterval(() => {
    const now = schedule();
    const gap = Math.max(0, now.at - last.at - TICK_MS);
    loop.longest = Math.max(loop.longest, gap);
    loop.blocked = Math.max(loop.blocked, gap - (now.waited - last.waited));
    loop.computing = Math.max(loop.computing, Math.min(gap, now.ran - last.ran));
    last = now;
  }, TICK_MS);
}

const answers = {
  token: async (name = '') => (await plane.clusters.get(name)).credentials.adminToken,
  kubeconfig: async (name) => {
    await plane.clusters.ensure(name);
    return plane.kubeconfig(name);
  },
  drop: (name) => plane.clusters.drop(name),
  awake: () => plane.clusters.awake,
  putForward: (ms) => {
    ahead += ms;
  },
  watchLoop,
  readLoop: () => {
    clearInterval(ticking);
    return loop;
  },
};

process.on('message', async ({ id, ask, argument }) => {
  try {
    process.send({ id, value: await answers[ask](argument) });
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit(1));
process.once('SIGTERM', async () => {
  await plane.close();
  process.exit(0);
});

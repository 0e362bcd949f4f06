/**
 * Our control plane as `rookery up` runs it, from the built files, with two additions for measurements: it answers its
 * parent's questions, and can watch its own event loop. Arguments: folder, port.
 */
import { readFileSync } from 'node:fs';

const [folder, port] = process.argv.slice(2);
const dist = (path) => import(new URL(`../../dist/${path}`, import.meta.url));
const [{ ControlPlane }, { loadConfig }, { createLogger }, { createMetrics }, { systemClock }] = await Promise.all(
  ['embedded/control-plane.js', 'config.js', 'telemetry/log.js', 'telemetry/metrics.js', 'clock.js'].map(dist),
);

let ahead = 0;
/** Real time that can be put forward, so that sleep comes sooner than in a minute. */
const clock = { now: () => systemClock.now() + ahead, after: systemClock.after };
const config = loadConfig({}, { home: folder, port: Number(port), logLevel: 'warn' });
const plane = await ControlPlane.start({
  config,
  clock,
  log: await createLogger({ level: config.logLevel }),
  metrics: await createMetrics(),
});

/** Nanoseconds this process's main thread was ready to run and had to wait for a processor. */
const waited = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]);
const TICK_MS = 2;
let loop = { longest: 0, own: 0 };
let ticking;

/** Every gap between two ticks, and how much of it was ours: the rest is other programs on the same processors. */
function watchLoop() {
  loop = { longest: 0, own: 0 };
  clearInterval(ticking);
  let at = performance.now();
  let queued = waited();
  ticking = setInterval(() => {
    const now = performance.now();
    const queuedNow = waited();
    const gap = Math.max(0, now - at - TICK_MS);
    loop.longest = Math.max(loop.longest, gap);
    loop.own = Math.max(loop.own, gap - (queuedNow - queued) / 1e6);
    at = now;
    queued = queuedNow;
  }, TICK_MS);
}

const answers = {
  token: async () => (await plane.clusters.get('')).credentials.adminToken,
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

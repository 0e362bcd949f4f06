/**
 * `make bench`: our API server beside kube-apiserver + etcd, in one run on one machine. Prints a table and writes
 * bench/results/<date>.json. What is measured and how: docs/benchmarks.md.
 *
 *   npx tsx bench/main.ts [--quick] [--strict] [--tenants <count>] [--only start|writes|list|watch|large|tenants|virtual|fairness|workspaces|kwok|store]…
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureFairness } from './fairness.ts';
import { measureFanOut } from './fan-out.ts';
import { measureLargeObjects } from './large-objects.ts';
import { measureList } from './list.ts';
import type { Effort, Pair } from './pair.ts';
import { kubeApiserver, whyNot } from './servers/kube-apiserver.ts';
import { whyNot as whyNoKwok } from './servers/kwok.ts';
import { type LoopDelay, startRookery } from './servers/rookery.ts';
import { residentMb } from './servers/server.ts';
import { measureSimulators } from './simulators.ts';
import { measureStart } from './start.ts';
import { measureStore } from './store.ts';
import { atMost, isMet, printTable, type Row, ratioAtMost, toJson } from './table.ts';
import { measureTenants } from './tenants.ts';
import { measureVirtualClusters } from './virtual-clusters.ts';
import { measureWorkspaces } from './workspaces.ts';
import { measureWrites } from './writes.ts';

const NAMES = [
  'start',
  'writes',
  'list',
  'watch',
  'large',
  'tenants',
  'virtual',
  'fairness',
  'workspaces',
  'kwok',
  'store',
];
const FULL: Effort = { rounds: 3, starts: 7, ms: 4000, objects: 10_000, tenants: 1000 };
/** Of a class. */
const STUDENTS = 200;
const QUICK: Effort = { rounds: 1, starts: 1, ms: 1500, objects: 2000, tenants: 100 };

const flags = process.argv.slice(2);
const only = flags.flatMap((flag, at) => (flag === '--only' ? [flags[at + 1] ?? ''] : []));
for (const name of only) if (!NAMES.includes(name)) throw new Error(`--only ${name}: not one of ${NAMES.join(', ')}`);
const wanted = (name: string) => (only.length > 0 ? only.includes(name) : name !== 'store');
const effort = { ...(flags.includes('--quick') ? QUICK : FULL) };
if (flags.includes('--tenants')) effort.tenants = Number(flags[flags.indexOf('--tenants') + 1]);
const missing = whyNot();
const folder = mkdtempSync(join(tmpdir(), 'rookery-bench-'));
const rows: Row[] = [];
const say = (what: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${what}`);

/** Everything that needs both servers under load, and what the load did to them. */
async function measureLoad(): Promise<void> {
  const theirs = missing ? undefined : await kubeApiserver.start(made('theirs'));
  const pair: Pair = { ours: await startRookery(made('ours')), theirs };
  try {
    await pair.ours.ask('watchLoop');
    await part('writes', () => measureWrites(pair, effort));
    await part('list', () => measureList(pair, effort));
    await part('watch', () => measureFanOut(pair, effort));
    const loop = await pair.ours.ask<LoopDelay>('readLoop');
    rows.push(
      {
        what: 'memory, after the load',
        unit: 'MB',
        ours: residentMb(pair.ours.pids),
        theirs: theirs && residentMb(theirs.pids),
        goal: ratioAtMost(0.35),
      },
      { what: 'event loop blocked, under load', unit: 'ms', ours: loop.blocked, goal: atMost(50) },
      { what: '… by computing alone', unit: 'ms', ours: loop.computing },
      { what: '… with waiting for a processor', unit: 'ms', ours: loop.longest },
    );
  } finally {
    await pair.ours.stop();
    await pair.theirs?.stop();
  }
}

function made(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

/** One part of the table, if it is wanted; its failure costs the run its exit code, not the other parts. */
async function part(name: string, measure: () => Promise<Row[]>): Promise<void> {
  if (!wanted(name)) return;
  say(name);
  try {
    rows.push(...(await measure()));
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name} failed:`, error);
  }
}

try {
  if (missing) say(`kube-apiserver + etcd are not available: ${missing}`);
  await part('start', () => measureStart(made('start'), effort.starts, !missing));
  if (['writes', 'list', 'watch'].some(wanted)) await measureLoad();
  await part('large', () => measureLargeObjects(made('large')));
  await part('tenants', () => measureTenants(made('tenants'), effort.tenants));
  await part('virtual', () => measureVirtualClusters(made('virtual'), effort.tenants));
  await part('fairness', () => measureFairness(made('fairness'), effort.ms));
  await part('workspaces', () => measureWorkspaces(made('workspaces'), STUDENTS));
  if (wanted('kwok') && whyNoKwok()) say(`kwok is not available: ${whyNoKwok()}`);
  await part('kwok', () => measureSimulators(made('kwok'), effort.tenants, effort.tenants * 2));
  await part('store', () => measureStore(made('store'), effort.tenants));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

printTable(rows, rows.some((row) => row.theirs !== undefined) ? kubeApiserver.name : undefined);
if (missing) console.log(`kube-apiserver + etcd: not available (${missing})`);

const results = fileURLToPath(new URL('./results/', import.meta.url));
mkdirSync(results, { recursive: true });
const date = new Date().toISOString();
const file = join(results, `${date.slice(0, 19).replaceAll(':', '')}.json`);
const machine = {
  cpu: cpus()[0]?.model ?? '',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.version,
  load: loadavg(),
};
writeFileSync(
  file,
  `${JSON.stringify({ date, commit: commit(), machine, effort, missing, rows: rows.map(toJson) }, null, 2)}\n`,
);
console.log(`\nwritten to ${file}`);
if (flags.includes('--strict') && rows.some((row) => isMet(row) === false)) process.exitCode = 1;

function commit(): string | undefined {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

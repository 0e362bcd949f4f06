/**
 * What Rookery adds to the tools it drives: `rookery cluster create` beside the bare tool, same image, same shape, taking turns in one
 * run, both until the cluster answers our own probe (API, nodes, DNS, default ServiceAccount). Needs the bed (`make bed`).
 *
 *   npx tsx bench/overhead/main.ts [--rounds 5] [--only kind]… [--write]
 *
 * `--write` puts seconds and memory into src/tools/overhead.json, which `rookery provisioners` shows.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { probeHealth } from '../../src/provisioners/cluster-health.ts';
import { engine } from '../../test/e2e/support/engine.ts';
import { printTable, type Row, ratioAtMost, ratioOf } from '../table.ts';
import { elapsed, median } from '../timing.ts';
import type { Bench, Contender } from './contender.ts';
import { k3d } from './k3d.ts';
import { k3s } from './k3s.ts';
import { kind } from './kind.ts';
import { Product } from './product.ts';
import { vcluster } from './vcluster.ts';

const GOAL = 1.05;
const POLL_MS = 100;
const PATIENCE_MS = 600_000;
const OVERHEAD = new URL('../../src/tools/overhead.json', import.meta.url);
const CONTENDERS: Record<string, (bench: Bench) => Contender> = { kind, k3d, k3s, vcluster };

const flags = process.argv.slice(2);
const only = flags.flatMap((flag, at) => (flag === '--only' ? [flags[at + 1] ?? ''] : []));
for (const name of only)
  if (!CONTENDERS[name]) throw new Error(`--only ${name}: not one of ${Object.keys(CONTENDERS)}`);
const rounds = flags.includes('--rounds') ? Number(flags[flags.indexOf('--rounds') + 1]) : 3;
const say = (what: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${what}`);

interface Measured {
  bare: number[];
  ours: number[];
  memoryMiB: number[];
}

async function measure(contender: Contender, product: Product): Promise<Measured> {
  const measured: Measured = { bare: [], ours: [], memoryMiB: [] };
  await contender.prepare?.(product);
  for (let round = 0; round < rounds; round++) {
    const bare = () => measureBare(contender, `bench-bare-${round}`, measured);
    const ours = () => measureOurs(contender, product, `bench-ours-${round}`, measured);
    // Whoever comes second finds warmer caches.
    for (const turn of round % 2 === 0 ? [bare, ours] : [ours, bare]) await turn();
    say(
      `${contender.name} ${round + 1}/${rounds}: ${seconds(measured.ours.at(-1))} by Rookery, ${seconds(measured.bare.at(-1))} bare`,
    );
  }
  return measured;
}

async function measureBare(contender: Contender, name: string, into: Measured): Promise<void> {
  await contender.before?.(name);
  try {
    const ms = await elapsed(async () => untilUsable(await contender.make(name), contender));
    into.bare.push(ms / 1000);
  } finally {
    await contender.remove(name);
    await contender.after?.(name);
  }
}

async function measureOurs(contender: Contender, product: Product, name: string, into: Measured): Promise<void> {
  await contender.before?.(name);
  try {
    const ms = await elapsed(() => contender.ask(product, name));
    into.ours.push(ms / 1000);
    // What Rookery calls ready must be so by the same probe, at once.
    const kubeconfig = await product.run('cluster', 'kubeconfig', name);
    const { missing } = await probeHealth(kubeconfig, contender.expects);
    if (missing.length > 0) throw new Error(`${name} was called ready, but ${missing.join('; ')}`);
    into.memoryMiB.push(await contender.memoryMiB(name));
  } finally {
    await product.run('cluster', 'delete', name);
    await contender.after?.(name);
  }
}

async function untilUsable(kubeconfig: string, { expects }: Contender): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const { missing } = await probeHealth(kubeconfig, expects);
    if (missing.length === 0) return;
    if (performance.now() > end) throw new Error(`not usable: ${missing.join('; ')}`);
    await delay(POLL_MS);
  }
}

const seconds = (value: number | undefined) => (value === undefined ? '-' : `${value.toFixed(1)} s`);

const docker = await engine();
// What a run before this one was killed over.
for (const whose of ['bench-bare-', 'bench-ours-', 'bench-host'])
  for (const tool of ['', 'k3d-']) await docker.clear(tool + whose);
const folder = mkdtempSync(join(tmpdir(), 'rookery-overhead-'));
const rows: Row[] = [];
const costs: Record<string, object> = JSON.parse(readFileSync(OVERHEAD, 'utf8'));
const measuredOn = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(0)}, ${new Date().toISOString().slice(0, 10)}`;
try {
  for (const [name, open] of Object.entries(CONTENDERS)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const contender = open({ docker, folder: mkdtempSync(join(folder, name)) });
    const loaded = await engine(...contender.images);
    const product = await Product.start(join(folder, `${name}-home`), { ...docker.env, ...contender.env });
    try {
      const { bare, ours, memoryMiB } = await measure(contender, product);
      const row = {
        what: `${name}, request → usable`,
        unit: 's',
        ours: median(ours),
        theirs: median(bare),
        goal: ratioAtMost(GOAL),
      };
      rows.push(row);
      costs[name] = { seconds: round(median(ours)), memoryMiB: Math.round(median(memoryMiB)), measuredOn };
      say(`${name}: ${ratioOf(row)?.toFixed(3)}×`);
    } catch (error) {
      process.exitCode = 1;
      console.error(`${name} failed:`, error);
    } finally {
      await product.stop();
      await contender.close();
      await loaded.release();
    }
  }
} finally {
  await docker.release();
  rmSync(folder, { recursive: true, force: true });
}
printTable(rows, 'bare tool');
if (flags.includes('--write')) writeFileSync(OVERHEAD, `${JSON.stringify(costs, null, 2)}\n`);

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

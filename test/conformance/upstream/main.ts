// `make conformance`: upstream's own conformance specs against a virtual cluster.
//   --tier a|b|ab        which lists (default ab)
//   --focus <regexp>     only specs whose name matches; then nothing is written to docs/conformance.md
//   --processes <n>      of the part that may run side by side (default 3)
//   --nodes <n>          of the cluster (default 3)
//   --minutes <n>        for all of it (default 40)
//   --kubeconfig <file>  judge this cluster instead of one made for it; nothing is written
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from '../../bed/build.ts';
import { withLock } from '../../bed/lock.ts';
import { logsFolder } from '../../bed/paths.ts';
import { kubernetesVersion } from '../../bed/versions.ts';
import { withRun } from './document.ts';
import { JudgedCluster } from './judged-cluster.ts';
import type { Outcome } from './outcome.ts';
import { isSerial, type Spec, specsOf, type Tier, tiers } from './spec-list.ts';
import { runSuite } from './suite.ts';

/** Below these the command fails: `docs/conformance.md` says what is promised. */
const FLOOR_A = 120;
const FLOOR_AB = 170;

const document = fileURLToPath(new URL('../../../docs/conformance.md', import.meta.url));
const folder = join(logsFolder, 'conformance');
const say = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

const { values } = parseArgs({
  options: {
    tier: { type: 'string', default: 'ab' },
    focus: { type: 'string' },
    processes: { type: 'string', default: '3' },
    nodes: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '40' },
    kubeconfig: { type: 'string' },
  },
});

async function main(): Promise<number> {
  const wanted = tiers.filter((tier) => values.tier.includes(tier));
  const focus = values.focus ? new RegExp(values.focus) : undefined;
  const specs = wanted.flatMap(specsOf).filter(({ name }) => !focus || focus.test(name));
  if (specs.length === 0) throw new Error(`no spec of tier ${values.tier} is named like ${values.focus}`);
  const built = await build(['upstream-e2e', 'kubernetes'], { say });
  for (const part of built) if ('why' in part) throw new Error(`${part.part.name}: ${part.state}: ${part.why}`);

  mkdirSync(folder, { recursive: true });
  const outcomes = (values.kubeconfig ? await judgeOne(specs, values.kubeconfig) : await judgeOurs(specs)).sort(
    (a, b) => (a.spec.name < b.spec.name ? -1 : 1),
  );
  if (!focus && !values.kubeconfig) for (const tier of wanted) write(tier, outcomes);
  return verdict(outcomes, focus !== undefined);
}

/** Specs that run against one cluster, `processes` of them at a time. */
interface Lane {
  readonly label: string;
  readonly specs: readonly Spec[];
  readonly processes: number;
}

/** A spec that wants a cluster for itself shares it with others, one after the other; virtual clusters cost nothing, so there are a few. */
const SERIAL_LANES = 3;

function lanesOf(specs: readonly Spec[], serialLanes: number): Lane[] {
  const serial = specs.filter(isSerial);
  const lanes: Lane[] = [
    { label: 'parallel', specs: specs.filter((spec) => !isSerial(spec)), processes: Number(values.processes) },
  ];
  for (let lane = 0; lane < serialLanes; lane++) {
    const share = serial.filter((_, index) => index % serialLanes === lane);
    lanes.push({ label: `serial-${lane + 1}`, specs: share, processes: 1 });
  }
  return lanes.filter((lane) => lane.specs.length > 0);
}

/** All lanes at once, each on a cluster of its own. */
async function judgeOurs(specs: readonly Spec[]): Promise<Outcome[]> {
  const judged = async (lane: Lane): Promise<Outcome[]> => {
    const cluster = new JudgedCluster();
    try {
      const kubeconfig = await cluster.start(Number(values.nodes), join(folder, `${lane.label}-rookery.log`));
      return await judge(lane, kubeconfig);
    } finally {
      await cluster.stop();
    }
  };
  return (await Promise.all(lanesOf(specs, SERIAL_LANES).map(judged))).flat();
}

/** A cluster there is only one of: one lane after the other. */
async function judgeOne(specs: readonly Spec[], kubeconfig: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const lane of lanesOf(specs, 1)) outcomes.push(...(await judge(lane, kubeconfig)));
  return outcomes;
}

async function judge({ label, specs, processes }: Lane, kubeconfig: string): Promise<Outcome[]> {
  const timeoutMs = Number(values.minutes) * 60_000;
  say(`${specs.length} specs, ${processes} at a time; log: ${join(folder, `${label}.log`)}`);
  const started = Date.now();
  const outcomes = await runSuite({ kubeconfig, specs, processes, folder, label, timeoutMs });
  say(`${label} took ${Math.round((Date.now() - started) / 1000)} s`);
  return outcomes;
}

function write(tier: Tier, outcomes: readonly Outcome[]): void {
  const day = new Date().toISOString().slice(0, 10);
  const about = `${day}, a virtual cluster with ${values.nodes} nodes, specs of Kubernetes ${kubernetesVersion}, ${values.processes} processes`;
  const run = { tier, outcomes: outcomes.filter(({ spec }) => spec.tier === tier), about };
  writeFileSync(document, withRun(readFileSync(document, 'utf8'), run));
}

function verdict(outcomes: readonly Outcome[], isFocused: boolean): number {
  for (const { spec, passed, why, seconds } of outcomes)
    if (!passed) console.log(`FAILED ${spec.name} (${seconds} s)\n       ${why}`);
  const count = (tier?: Tier): { passed: number; all: number } => {
    const counted = outcomes.filter(({ spec }) => !tier || spec.tier === tier);
    return { passed: counted.filter(({ passed }) => passed).length, all: counted.length };
  };
  const lines = tiers.flatMap((tier) => {
    const { passed, all } = count(tier);
    return all > 0 ? [`tier ${tier.toUpperCase()}: ${passed} of ${all} passed`] : [];
  });
  console.log(lines.join('\n'));
  const total = count();
  console.log(`${total.passed} passed, ${total.all - total.passed} failed`);
  if (isFocused) return total.passed === total.all ? 0 : 1;
  const isEnough =
    (count('a').all === 0 || count('a').passed >= FLOOR_A) &&
    (count('a').all === 0 || count('b').all === 0 || total.passed >= FLOOR_AB);
  if (!isEnough) console.log(`too few: the floors are ${FLOOR_A} of tier A, ${FLOOR_AB} of both`);
  return isEnough ? 0 : 1;
}

// An end by signal must still be an end: children in groups of their own are killed on exit.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await withLock('conformance', main, {
  onWait: () => say('another conformance run is under way; waiting for it'),
});

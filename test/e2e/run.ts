// `make e2e`: builds what the suites need, runs those whose parts are there, and names every other one. A suite that did not
// run fails the run unless it was excused by name, or unless the caller gave a clock and the clock ran out.
//   SUITES (arguments)   only these
//   E2E_FULL=1           also those that take long
//   EXCUSE               names of suites or parts that may be missing
//   BED_DEADLINE         epoch seconds: nothing is built after that; what is missing then is named, without failing
//   E2E_DEADLINE         epoch seconds: no suite is begun after that, and a running one is stopped
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Outcome } from '../bed/build.ts';
import { scratch } from '../bed/cache.ts';
import { withLock } from '../bed/lock.ts';
import { closure } from '../bed/lookup.ts';
import { runFolder } from '../bed/paths.ts';
import { tryRun } from '../bed/process.ts';
import { acquire, type Lease } from '../bed/services/service.ts';
import { leftovers } from './leftovers.ts';
import { type Suite, suites } from './suites.ts';

const say = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
const seconds = (name: string): number | undefined =>
  process.env[name] ? Number(process.env[name]) * 1000 : undefined;
const words = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter(Boolean);

interface Count {
  passed: number;
  failed: number;
  /** Tests of a full run, or of what a provisioner cannot do. */
  leftOut: number;
}

/**
 * Runs one suite in a process of its own, so that a suite that hangs can be stopped without losing the others. Answers nothing
 * when the clock stopped it.
 */
async function runSuite(suite: Suite, until: number | undefined, echo: boolean): Promise<Count | undefined> {
  const folder = scratch('e2e');
  const report = join(folder, 'report.json');
  const limit = Math.min(15 * 60_000, until ? until - Date.now() : Number.POSITIVE_INFINITY);
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/e2e/vitest.config.ts',
    '--reporter=verbose',
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const result = await tryRun(process.execPath, args, {
    timeoutMs: limit,
    echo,
    // Not as a filter: that would also find suites whose names end with this one's.
    env: { ...process.env, NO_COLOR: '1', E2E_SUITE: suite.name },
  });
  if (!echo) process.stdout.write(`${result.stdout}${result.stderr}`);
  try {
    const count = JSON.parse(readFileSync(report, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
      numPendingTests: number;
    };
    const leftOut = count.numPendingTests;
    if (count.numFailedTests === 0 && result.code === 0) return { passed: count.numPassedTests, failed: 0, leftOut };
    // Tests that a failure kept from running did not pass either.
    return { passed: count.numPassedTests, failed: Math.max(1, count.numFailedTests + leftOut), leftOut: 0 };
  } catch {
    if (until && Date.now() >= until) return undefined;
    say(`${suite.name} was stopped or broke before it could report`);
    return { passed: 0, failed: 1, leftOut: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Where a clock is given (CI), a suite that failed gets one more chance, as a busy machine is no reason for nothing to land;
 * the summary says so. Without a clock somebody is looking, and wants to see it fail.
 */
async function runTwice(
  suite: Suite,
  until: number | undefined,
  echo: boolean,
): Promise<{ count: Count | undefined; isSecond: boolean }> {
  const count = await runSuite(suite, until, echo);
  if (!until || !count?.failed) return { count, isSecond: false };
  say(`suite ${suite.name} FAILED; once more`);
  const second = await runSuite(suite, until, echo);
  // Stopped by the clock, it is known by its first end only.
  return { count: second ?? count, isSecond: second?.failed === 0 };
}

function reasonNotToRun(suite: Suite, outcomes: readonly Outcome[]): { why: string; late: boolean } | undefined {
  for (const part of closure(suite.parts)) {
    const outcome = outcomes.find((candidate) => candidate.part.name === part.name);
    if (outcome && 'why' in outcome)
      return {
        why: `${part.name}: ${outcome.state}: ${outcome.why.split('\n')[0]}`,
        late: outcome.state === 'no time',
      };
  }
  return undefined;
}

/** Takes the first suite of the first queue that has one. */
function next(queues: Suite[][]): Suite | undefined {
  return queues.find((queue) => queue.length > 0)?.shift();
}

async function main(): Promise<number> {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0)
    throw new Error(`no suite named ${unknown.join(', ')}; there are: ${suites.map((suite) => suite.name).join(', ')}`);
  const isFull = process.env.E2E_FULL === '1';
  const wanted = suites.filter((suite) => (names.length > 0 ? names.includes(suite.name) : isFull || !suite.full));
  const leftOut = names.length > 0 ? [] : suites.filter((suite) => !wanted.includes(suite));
  const excused = words(process.env.EXCUSE);
  const buildUntil = seconds('BED_DEADLINE');
  const runUntil = seconds('E2E_DEADLINE');

  const started = Date.now();
  const outcomes = await build([...new Set(wanted.flatMap((suite) => suite.parts))], {
    say,
    ...(buildUntil ? { deadline: buildUntil } : {}),
  });
  const total = { passed: 0, failed: 0 };
  const lines = new Map<Suite, string>();
  const needs = (suite: Suite, name: string): boolean => closure(suite.parts).some((part) => part.name === name);
  // Held from here to the end, so that the engine is started once and not once for every suite.
  let engine: Lease | undefined;
  if (wanted.some((suite) => needs(suite, 'docker') && !reasonNotToRun(suite, outcomes)))
    engine = await acquire('docker', say);

  const skip = (suite: Suite, why: string, isLate: boolean): void => {
    const isExcused = excused.includes(suite.name) || closure(suite.parts).some((part) => excused.includes(part.name));
    const allowed = isExcused ? 'excused' : isLate && (buildUntil || runUntil) ? 'no time' : undefined;
    lines.set(suite, `not run: ${suite.name} (${suite.about}): ${why}${allowed ? ` [${allowed}]` : ''}`);
    if (!allowed) total.failed++;
  };
  const lane = async (queues: Suite[][], echo: boolean): Promise<void> => {
    for (let suite = next(queues); suite; suite = next(queues)) {
      const reason = reasonNotToRun(suite, outcomes);
      if (reason) skip(suite, reason.why, reason.late);
      else if (runUntil && Date.now() > runUntil) skip(suite, 'the clock ran out', true);
      else {
        say(`suite ${suite.name}: ${suite.about}`);
        const begun = Date.now();
        const { count, isSecond } = await runTwice(suite, runUntil, echo);
        const seconds = Math.round((Date.now() - begun) / 1000);
        if (!count) {
          skip(suite, `the clock ran out after ${seconds} s of it`, true);
          continue;
        }
        total.passed += count.passed;
        total.failed += count.failed;
        const verdict = count.failed === 0 ? 'passed' : 'FAILED';
        const leftOut = count.leftOut > 0 ? `, ${count.leftOut} left out` : '';
        const second = isSecond ? ', only the second time' : '';
        const numbers = `${String(count.passed).padStart(3)} passed ${count.failed} failed ${seconds} s${leftOut}${second}`;
        lines.set(suite, `${suite.name.padEnd(22)} ${verdict} ${numbers}`);
        say(`suite ${suite.name} ${verdict} after ${seconds} s`);
      }
    }
  };
  // Much of a suite is waiting for containers and API servers to come up, so several run at once. All clusters of kind share one
  // network, which goes with the last of them: their suites follow each other. Who has nothing left to do helps with the others.
  const kind = wanted.filter((suite) => needs(suite, 'docker') && needs(suite, 'kind-cli'));
  const others = wanted.filter((suite) => needs(suite, 'docker') && !needs(suite, 'kind-cli'));
  const serversOnly = wanted.filter((suite) => !needs(suite, 'docker'));
  const lanes = [[kind, others], [others], [serversOnly, others]];
  // Output of one lane is shown as it comes; of several when a suite has ended, so that they do not mix.
  await Promise.all(lanes.map((queues) => lane(queues, wanted.length === 1)));

  await engine?.release();
  // Somebody else may still be using the engine; then there is nothing to be said about what is left of it.
  const left = engine && !existsSync(join(runFolder, 'docker')) ? await leftovers() : [];
  for (const thing of left) say(`left behind: ${thing}`);
  total.failed += left.length;
  const said = wanted.map((suite) => lines.get(suite) ?? '');
  const isSkipped = (line: string): boolean => line.startsWith('not run: ');
  console.log(`\n${said.filter((line) => !isSkipped(line)).join('\n')}`);
  for (const { name, about } of leftOut)
    console.log(`not in this run: ${name} (${about}): only by name or with E2E_FULL=1`);
  for (const line of said.filter(isSkipped)) console.log(line);
  console.log(`e2e took ${Math.round((Date.now() - started) / 1000)} s`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

// An end by signal must still be an end: the children, in groups of their own, would otherwise go on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
// Two runs at once would use the same cluster names: the second waits.
process.exitCode = await withLock('e2e', main, {
  onWait: () => say('another e2e run is under way; waiting for it'),
});

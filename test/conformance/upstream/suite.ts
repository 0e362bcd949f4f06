// Upstream's own test program, run by Ginkgo against one cluster. Nothing of it may outlive its time: Ginkgo is told when to stop
// and report, and is killed with all its children when it does not.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../../bed/environment.ts';
import { tryRun } from '../../bed/process.ts';
import { type GinkgoReport, type Outcome, outcomesOf } from './outcome.ts';
import { focusOn, type Spec } from './spec-list.ts';

export interface SuiteRun {
  readonly kubeconfig: string;
  readonly specs: readonly Spec[];
  readonly processes: number;
  /** Where output and report are kept. */
  readonly folder: string;
  /** Names the files in it. */
  readonly label: string;
  readonly timeoutMs: number;
}

/** For Ginkgo to end what runs, and write its report. */
const GRACE_MS = 60_000;

export async function runSuite({
  kubeconfig,
  specs,
  processes,
  folder,
  label,
  timeoutMs,
}: SuiteRun): Promise<Outcome[]> {
  if (specs.length === 0) return [];
  const report = join(folder, `${label}.json`);
  const log = join(folder, `${label}.log`);
  const home = join(folder, `${label}-home`);
  for (const path of [report, log, home]) rmSync(path, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  const ginkgoFlags = [
    `--procs=${processes}`,
    `--timeout=${Math.round(timeoutMs / 1000)}s`,
    '--grace-period=30s',
    `--focus=${focusOn(specs)}`,
    `--output-dir=${folder}`,
    `--json-report=${label}.json`,
    '--silence-skips',
    '--no-color',
    '--keep-going',
  ];
  const suiteFlags = [
    '--provider=skeleton',
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${program('kubernetes', 'kubectl')}`,
    '--disable-log-dump',
    '--dump-logs-on-failure=false',
  ];
  await tryRun(
    program('upstream-e2e', 'ginkgo'),
    [...ginkgoFlags, program('upstream-e2e', 'e2e.test'), '--', ...suiteFlags],
    {
      cwd: home,
      log,
      timeoutMs: timeoutMs + GRACE_MS,
      // kubectl caches what a server serves below its home; another one's cache must not answer for this cluster.
      env: { ...process.env, HOME: home, KUBECONFIG: kubeconfig },
    },
  );
  rmSync(home, { recursive: true, force: true });
  return outcomesOf(specs, readReport(report));
}

function readReport(path: string): GinkgoReport | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as GinkgoReport;
  } catch {
    return undefined;
  }
}

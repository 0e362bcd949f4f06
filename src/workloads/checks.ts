/** Whether what a command printed is what a check wants. */
import { RE2JS } from 're2js';
import type { CommandResult, Workload, WorkspaceRef } from './workload.ts';

export interface StepCheck {
  name: string;
  run: string;
  exitCode?: number;
  stdout?: string[];
  timeoutSeconds?: number;
  hint?: string;
}

export interface CheckResult {
  name: string;
  passed: boolean;
  message?: string;
}

const MESSAGE_MAX = 1000;

/** One after the other: later checks often stand on what earlier ones look at. */
export async function runChecks(
  workload: Workload,
  ref: WorkspaceRef,
  checks: readonly StepCheck[],
  signal?: AbortSignal,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    try {
      const timeoutMs = (check.timeoutSeconds ?? 10) * 1000;
      results.push(judge(check, await workload.run(ref, check.run, { timeoutMs, signal })));
    } catch (error) {
      results.push(failed(check, (error as Error).message));
    }
  }
  return results;
}

export function judge(check: StepCheck, { code, stdout, stderr }: CommandResult): CheckResult {
  const { name, exitCode = 0, stdout: wanted = [] } = check;
  if (code !== exitCode) {
    const output = (stderr || stdout).trim();
    return failed(check, `ended with ${code} instead of ${exitCode}${output ? `: ${output}` : ''}`);
  }
  const unmet = wanted.find((text) => !holds(text, stdout));
  if (unmet !== undefined) {
    const what = unmet.startsWith('!') ? `must not contain ${unmet.slice(1)}` : `does not contain ${unmet}`;
    return failed(check, `the output ${what}: ${stdout.trim() || '(nothing)'}`);
  }
  return { name, passed: true };
}

function failed({ name, hint }: StepCheck, what: string): CheckResult {
  return { name, passed: false, message: [what.slice(0, MESSAGE_MAX), hint].filter(Boolean).join('\n') };
}

/** `text`, `/pattern/`, or either with `!` before it. */
function holds(wanted: string, output: string): boolean {
  if (wanted.startsWith('!')) return !holds(wanted.slice(1), output);
  const pattern = /^\/(.*)\/$/.exec(wanted)?.[1];
  // RE2: whoever writes a check cannot make it run for ever.
  return pattern === undefined
    ? output.includes(wanted)
    : RE2JS.compile(pattern, RE2JS.MULTILINE).matcher(output).find();
}

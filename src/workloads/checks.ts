/** Whether what a command printed is what a check wants. */
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
      results.push(await judge(check, await workload.run(ref, check.run, { timeoutMs, signal })));
    } catch (error) {
      results.push(failed(check, (error as Error).message));
    }
  }
  return results;
}

export async function judge(check: StepCheck, { code, stdout, stderr }: CommandResult): Promise<CheckResult> {
  const { name, exitCode = 0, stdout: wanted = [] } = check;
  if (code !== exitCode) {
    const output = (stderr || stdout).trim();
    return failed(check, `ended with ${code} instead of ${exitCode}${output ? `: ${output}` : ''}`);
  }
  for (const text of wanted) {
    if (await holds(text, stdout)) continue;
    const what = text.startsWith('!') ? `must not contain ${text.slice(1)}` : `does not contain ${text}`;
    return failed(check, `the output ${what}: ${stdout.trim() || '(nothing)'}`);
  }
  return { name, passed: true };
}

function failed({ name, hint }: StepCheck, what: string): CheckResult {
  return { name, passed: false, message: [what.slice(0, MESSAGE_MAX), hint].filter(Boolean).join('\n') };
}

/** `text`, `/pattern/`, or either with `!` before it. */
async function holds(wanted: string, output: string): Promise<boolean> {
  if (wanted.startsWith('!')) return !(await holds(wanted.slice(1), output));
  const pattern = /^\/(.*)\/$/.exec(wanted)?.[1];
  if (pattern === undefined) return output.includes(wanted);
  // RE2: whoever writes a check cannot make it run for ever.
  const { RE2JS } = await import('re2js');
  return RE2JS.compile(pattern, RE2JS.MULTILINE).matcher(output).find();
}

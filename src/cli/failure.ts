/** How a command ends when it fails: one sentence, a hint, and an exit code by class of error. */
import { CommanderError } from 'commander';
import pc from 'picocolors';
import { RookeryError } from '../errors.ts';
import { Interrupted } from './interrupt.ts';

/** Exit codes: 0 done · 1 failed · 2 wrong input · 75 try again later (as sysexits' EX_TEMPFAIL) · 130 interrupted. */
export function reportFailure(error: unknown, output?: string): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { code, message, hint, exitCode } = describe(error);
  if (output === 'json') {
    process.stderr.write(`${JSON.stringify({ error: { code, message, ...(hint ? { hint } : {}) } })}\n`);
    return exitCode;
  }
  process.stderr.write(`${pc.red('error:')} ${message}\n`);
  if (hint) process.stderr.write(`${pc.dim('hint:')}  ${hint}\n`);
  if (process.env.ROOKERY_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return exitCode;
}

interface Failure {
  code: string;
  message: string;
  hint?: string;
  exitCode: number;
}

/** What the file system refuses is not our mistake. */
const ENVIRONMENT = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOTDIR',
  'EEXIST',
  'EISDIR',
  'EMFILE',
  'ENFILE',
]);

function describe(error: unknown): Failure {
  if (error instanceof RookeryError) {
    return { code: error.code, message: error.message, hint: error.hint, exitCode: error.exitCode };
  }
  if (error instanceof Interrupted) {
    return { code: 'cli.interrupted', message: error.message, hint: error.hint, exitCode: error.exitCode };
  }
  const { name, message, reason, code } = error as { name?: string; message?: string; reason?: string; code?: unknown };
  if (name === 'KubeError') return { code: `api.${reason}`, message: message ?? '', exitCode: apiExitCode(code) };
  if (name === 'ConnectionError') {
    return {
      code: 'api.unreachable',
      message: `the control plane does not answer: ${message}`,
      hint: 'see `rookery status`; start it with `rookery up`',
      exitCode: 75,
    };
  }
  if (typeof code === 'string' && ENVIRONMENT.has(code)) {
    const hint = 'check that the folder of --home (or ROOKERY_HOME) is yours and has room';
    return { code: `system.${code}`, message: message ?? code, hint, exitCode: 1 };
  }
  const hint = 'this is a bug in rookery; ROOKERY_DEBUG=1 shows where';
  return { code: 'internal', message: message ?? String(error), hint, exitCode: 1 };
}

/** Refused input is the user's to fix; overload and timeouts pass. */
function apiExitCode(code: unknown): number {
  if (typeof code !== 'number') return 1;
  if (code === 429 || code >= 500) return 75;
  return code >= 400 ? 2 : 1;
}

/** Answers of provisioners that several tools give in the same words. */
import { RookeryError } from '../../errors.ts';
import type { RunState } from '../../tools/background-run.ts';
import type { Progress } from '../provisioner.ts';
import { lastLines, type Meaning } from './tool-output.ts';

const REASONS: Record<string, string> = {
  'docker.unreachable': 'DockerUnreachable',
  'tool.missing': 'ToolMissing',
  'tool.timeout': 'EngineSlow',
};

/** Trouble with the engine or the tool is an answer: what it is, what helps, when it is tried again. */
export async function answered(work: () => Promise<Progress>): Promise<Progress> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    const reason = REASONS[error.code] ?? 'EngineFailed';
    const next = `${error.hint ? `${error.hint}; ` : ''}tried again every 10 s`;
    return { phase: 'blocked', reason, message: error.message, next, lookAgainMs: 10_000 };
  }
}

/** What a run said, once it has ended, for the journal. */
export function transcriptOf(state: RunState, title: string): Pick<Progress, 'transcript'> {
  if (state.state !== 'ended') return {};
  return { transcript: { startedAt: state.startedAt, title, text: state.output } };
}

/** A run that failed: why, and when it is tried again; undefined when it is time. Waits three times as long each time, at most five minutes. */
export function failedRun(
  state: RunState,
  { what, retryMs, now, meaning }: { what: string; retryMs: number; now: number; meaning: Meaning },
): Progress | undefined {
  const wait = Math.min(300_000, retryMs * 3 ** (state.attempt - 1));
  const left = (state.endedAt ?? state.startedAt) + wait - now;
  if (left <= 0) return undefined;
  const end = state.code === undefined ? 'was killed' : `ended with ${state.code}`;
  return {
    phase: 'blocked',
    reason: meaning.reason,
    message: `${meaning.means} (${what} ${end}, attempt ${state.attempt})`,
    since: state.endedAt,
    output: lastLines(state.output),
    next: `${meaning.help}; tried again ${Math.round(wait / 1000)} s after the failure`,
    lookAgainMs: left,
  };
}

/** Where the API of a kubeconfig is. */
export function endpointOf(kubeconfig: string): { host: string; port: number } | undefined {
  const server = /^\s*server:\s*(\S+)/m.exec(kubeconfig)?.[1];
  if (!server) return undefined;
  const { hostname, port } = new URL(server);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
}

/**
 * Work on a machine that takes longer than a call, in a folder of that machine: the script, what was started and when (`run.json`), its
 * process (`pid`), all it said (`output.log`) and how it ended (`exit`). The same idea as `tools/background-run.ts`, on any host: a crash of ours
 * or a lost connection changes nothing, and whoever comes next finds it running, ended, or lost.
 */
import type { Clock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { redactText } from '../telemetry/redact.ts';
import type { RunState } from '../tools/background-run.ts';
import type { Host } from './host.ts';

/** In a session of its own, with nothing of ours open: neither a signal nor the end of a connection reaches it. */
const START = `set -e; umask 077; cd "$1"; shift; rm -f pid exit exit.new output.log
cat >script
set -- /bin/sh -c 'echo $$ >"$0/pid"; "$@" >"$0/output.log" 2>&1; echo $? >"$0/exit.new"; mv "$0/exit.new" "$0/exit"' \\
  "$PWD" /bin/sh "$PWD/script" "$@"
if command -v setsid >/dev/null; then setsid "$@" </dev/null >/dev/null 2>&1 &
else nohup "$@" </dev/null >/dev/null 2>&1 & fi`;

const READ = `cd "$1" 2>/dev/null && [ -f run.json ] || { echo none; exit 0; }
alive=no; pid=$(cat pid 2>/dev/null)
if [ -n "$pid" ] && tr '\\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$1"; then alive=yes; fi
echo "$(cat run.json)"; echo "$alive \${pid:-0} $(date +%s)"
[ -f exit ] && echo "$(cat exit) $(stat -c %Y exit)" || echo -
tail -c 65536 output.log 2>/dev/null || :`;

const STOP = `cd "$1" 2>/dev/null || exit 0; pid=$(cat pid 2>/dev/null)
if [ -n "$pid" ] && tr '\\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$1"; then kill -9 "-$pid" "$pid" 2>/dev/null; echo stopped; fi`;

/** A run that was just started needs a moment before its shell has written its number. */
const START_GRACE_MS = 5000;

export class HostRun {
  readonly #host: Host;
  readonly #folder: string;
  readonly #clock: Clock;

  constructor(host: Host, folder: string, clock: Clock) {
    this.#host = host;
    this.#folder = folder;
    this.#clock = clock;
  }

  /** The record is on the machine before the script starts. */
  async start(script: string, args: readonly string[], note: Record<string, unknown>, signal?: AbortSignal) {
    const { attempt } = await this.read(signal);
    const record = JSON.stringify({ startedAt: this.#clock.now(), attempt: attempt + 1, note });
    await this.#host.put(`${this.#folder}/run.json`, record, 0o600, signal);
    const { code, stderr } = await this.#host.run(START, { args: [this.#folder, ...args], input: script, signal });
    if (code !== 0)
      throw new RookeryError('host.failed', `${this.#host.identity}: ${stderr.trim()}`, { class: 'retryable' });
  }

  async read(signal?: AbortSignal): Promise<RunState> {
    const { stdout } = await this.#host.run(READ, { args: [this.#folder], signal });
    const [record = 'none', process = '', exit = '-', ...output] = stdout.split('\n');
    if (record === 'none' || record === '') return { state: 'none', startedAt: 0, attempt: 0, output: '', note: {} };
    const { startedAt, attempt, note } = JSON.parse(record) as Pick<RunState, 'startedAt' | 'attempt' | 'note'>;
    const common = { startedAt, attempt, note, output: redactText(output.join('\n')) };
    const [alive, pid] = process.split(' ');
    if (exit !== '-') {
      const [code, endedAt] = exit.split(' ');
      return { ...common, state: 'ended', code: Number(code), endedAt: Number(endedAt) * 1000 };
    }
    const isNew = pid === '0' && this.#clock.now() - startedAt < START_GRACE_MS;
    return { ...common, state: alive === 'yes' || isNew ? 'running' : 'lost' };
  }

  /** Ends it and everything it started; true when there was something to end. */
  async stop(signal?: AbortSignal): Promise<boolean> {
    return (await this.#host.run(STOP, { args: [this.#folder], signal })).stdout.includes('stopped');
  }
}

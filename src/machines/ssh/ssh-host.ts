/**
 * A machine reached over SSH. One connection for all calls, made when it is needed, kept alive while in use and let go when idle. The machine's
 * key is compared with the one that is known; the first one ever seen is remembered, any other is refused before a secret is sent.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Client, type ClientChannel } from 'ssh2';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { RunResult } from '../../tools/processes.ts';
import { type Host, quoted, type ScriptOptions, type UploadOptions } from '../host.ts';
import { connectionError, keyChanged, lost, timedOut } from './ssh-errors.ts';

export interface SshTarget {
  address: string;
  port: number;
  user: string;
  /** Private key in any form OpenSSH writes, without a passphrase. */
  key: string;
  /** `SHA256:…` as `ssh-keygen -lf` prints it; absent: whichever comes first. */
  hostKey?: string;
}

export interface SshHostOptions {
  clock: Clock;
  /** Called with the key of a machine that none was known of, before anything is sent to it. */
  onFirstKey?: (fingerprint: string) => void;
  connectMs?: number;
  idleMs?: number;
}

const OUTPUT_MAX = 4 * 1024 * 1024;
const SCRIPT_MS = 60_000;
/** Root by itself, or by sudo without a password; else as the user, and the script sees who it is. */
const AS_ROOT =
  'if [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null; then exec sudo -n /bin/sh -c "$@"; else exec /bin/sh -c "$@"; fi';
/** Resumes after the bytes that are there, unless there are more than the whole has. */
const APPEND = `set -e; umask 077; size=$(stat -c %s "$1" 2>/dev/null || echo 0)
[ "$size" = "$2" ] || { echo "the file has $size bytes, not $2" >&2; exit 3; }
cat >>"$1"; chmod "$3" "$1"`;
const PREPARE = `set -e; umask 077; [ -e "$1" ] || : >"$1"
size=$(stat -c %s "$1"); if [ "$size" -gt "$2" ]; then : >"$1"; size=0; fi; echo "$size"`;
const PUT = `set -e; umask 077; mkdir -p "$(dirname "$1")"; cat >"$1.new"; chmod "$2" "$1.new"; mv "$1.new" "$1"`;

export class SshHost implements Host {
  readonly identity: string;
  readonly #target: SshTarget;
  readonly #options: Required<Omit<SshHostOptions, 'onFirstKey'>> & Pick<SshHostOptions, 'onFirstKey'>;
  #connection: Promise<Client> | undefined;
  #knownKey: string | undefined;
  #busy = 0;
  #stopIdling = () => {};

  constructor(target: SshTarget, options: SshHostOptions) {
    this.#target = target;
    this.#knownKey = target.hostKey;
    this.#options = { connectMs: 15_000, idleMs: 60_000, ...options };
    this.identity = `${target.user}@${target.address}:${target.port}`;
  }

  async run(script: string, options: ScriptOptions = {}): Promise<RunResult> {
    const { args = [], input = '', ...rest } = options;
    return this.#exec(script, args, rest, (channel) => void channel.end(input));
  }

  async put(path: string, content: string | Buffer, mode: number, signal?: AbortSignal): Promise<void> {
    await this.#succeed(PUT, { args: [path, mode.toString(8)], input: content, signal });
  }

  async read(path: string, signal?: AbortSignal): Promise<string | undefined> {
    const script = '[ -e "$1" ] || exit 44; cat "$1"';
    const { code, stdout, stderr } = await this.run(script, { args: [path], signal });
    if (code === 44) return undefined;
    if (code !== 0) throw failed(this.identity, `read ${path}`, stderr);
    return stdout;
  }

  async upload(file: string, path: string, { mode, onProgress, signal }: UploadOptions): Promise<void> {
    const { size } = await stat(file);
    let written = Number(await this.#succeed(PREPARE, { args: [path, String(size)], signal }));
    const args = [path, String(written), mode.toString(8)];
    const counted = async function* (parts: AsyncIterable<Buffer>) {
      for await (const part of parts) {
        written += part.length;
        onProgress?.(written, part);
        yield part;
      }
    };
    // As long as it takes: a connection that is dead is noticed by its keep-alive.
    const { code, stderr } = await this.#exec(APPEND, args, { timeoutMs: 0, signal }, (channel) => {
      const source = createReadStream(file, { start: written, highWaterMark: 256 * 1024 });
      pipeline(source, counted, channel.stdin).catch(() => {}); // Its end is seen as the end of the channel.
    });
    if (code !== 0) throw failed(this.identity, `write ${path}`, stderr);
  }

  close(): void {
    this.#stopIdling();
    const open = this.#connection;
    this.#connection = undefined;
    open?.then((client) => client.end()).catch(() => {});
  }

  async #succeed(script: string, options: ScriptOptions): Promise<string> {
    const { code, stdout, stderr } = await this.run(script, options);
    if (code !== 0) throw failed(this.identity, `write ${options.args?.[0]}`, stderr);
    return stdout.trim();
  }

  async #exec(
    script: string,
    args: readonly string[],
    options: Pick<ScriptOptions, 'timeoutMs' | 'signal' | 'onOutput'>,
    feed: (channel: ClientChannel) => void,
  ): Promise<RunResult> {
    const words = ['/bin/sh', '-c', AS_ROOT, 'rookery', script, 'rookery', ...args];
    this.#busy++;
    this.#stopIdling();
    try {
      const client = await this.#connect();
      return await this.#ended(client, words.map(quoted).join(' '), feed, options);
    } finally {
      this.#busy--;
      if (this.#busy === 0) this.#stopIdling = this.#options.clock.after(this.#options.idleMs, () => this.close());
    }
  }

  #ended(
    client: Client,
    command: string,
    feed: (channel: ClientChannel) => void,
    { timeoutMs = SCRIPT_MS, signal, onOutput }: Pick<ScriptOptions, 'timeoutMs' | 'signal' | 'onOutput'>,
  ): Promise<RunResult> {
    return new Promise((resolve, reject) => {
      const output = { stdout: '', stderr: '' };
      let code: number | undefined;
      let open: ClientChannel | undefined;
      const finish = (act: () => void) => {
        stopWaiting();
        signal?.removeEventListener('abort', onAbort);
        client.off('close', onLost);
        act();
      };
      const fail = (cause?: unknown) => finish(() => reject(lost(this.identity, cause)));
      const onLost = () => fail();
      const giveUp = (error: unknown) =>
        finish(() => {
          open?.close();
          reject(error);
        });
      const onAbort = () => giveUp(signal?.reason);
      const stopWaiting = timeoutMs
        ? this.#options.clock.after(timeoutMs, () => giveUp(timedOut(this.identity, timeoutMs)))
        : () => {};
      if (signal?.aborted) return giveUp(signal.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      client.once('close', onLost);
      const collect = (name: 'stdout' | 'stderr') => (data: Buffer) => {
        const text = data.toString('utf8');
        if (output[name].length < OUTPUT_MAX) output[name] += text;
        onOutput?.(text);
      };
      // All listeners in this very call: the whole answer may have come with the packet that opened the channel.
      client.exec(command, (error, channel) => {
        if (error) return fail(error);
        open = channel;
        channel.on('error', () => {}); // A `close` follows.
        channel.on('data', collect('stdout'));
        channel.stderr.on('data', collect('stderr'));
        channel.on('exit', (status: number | null) => {
          code = status ?? 128;
        });
        channel.on('close', () => {
          const ended = code;
          if (ended === undefined) onLost();
          else finish(() => resolve({ code: ended, ...output }));
        });
        feed(channel);
      });
    });
  }

  #connect(): Promise<Client> {
    this.#connection ??= this.#open().catch((error) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  #open(): Promise<Client> {
    const { address, port, user, key } = this.#target;
    const client = new Client();
    // Every command under way listens for its end, and there may be many: Node would take the eleventh for a leak and warn.
    client.setMaxListeners(0);
    let rejected: RookeryError | undefined;
    const verify = (seen: Buffer): boolean => {
      const fingerprint = `SHA256:${createHash('sha256').update(seen).digest('base64').replace(/=+$/, '')}`;
      if (this.#knownKey === undefined) {
        this.#knownKey = fingerprint;
        this.#options.onFirstKey?.(fingerprint);
      }
      if (fingerprint === this.#knownKey) return true;
      rejected = keyChanged(this.identity, this.#knownKey, fingerprint);
      return false;
    };
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(rejected ?? connectionError(this.identity, error));
      client.once('ready', () => resolve(client));
      client.on('error', fail);
      client.once('close', () => {
        fail(new Error('closed'));
        this.#connection = undefined;
      });
      try {
        client.connect({
          host: address,
          port,
          username: user,
          privateKey: key,
          hostVerifier: verify,
          readyTimeout: this.#options.connectMs,
          keepaliveInterval: 10_000,
          keepaliveCountMax: 3,
        });
      } catch (error) {
        fail(error as Error); // A key that cannot be read.
      }
    });
  }
}

function failed(identity: string, what: string, stderr: string): RookeryError {
  const said = stderr.trim().split('\n').at(-1) || 'no reason given';
  return new RookeryError('host.failed', `${identity} could not ${what}: ${said}`, { class: 'retryable' });
}

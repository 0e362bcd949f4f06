/**
 * HTTP as a Kubernetes API speaks it: JSON in and out, failures as `KubeError`, a watch as lines. Requests share a
 * pool of keep-alive connections; each watch has its own. Reads are repeated when a pooled connection turns out to be
 * dead, and everything is repeated when the server itself says when to come back (Retry-After), as client-go does.
 */
import type { Agent, Dispatcher } from 'undici';
import { type Clock, sleep, systemClock } from '../clock.ts';
import type { Connection, Headers } from './connection.ts';
import { ConnectionError, KubeError, type KubeStatus, WatchStreamError } from './kube-error.ts';
import { shareSignal } from './share-signal.ts';

export interface HttpClientOptions {
  connection: Connection;
  userAgent?: string;
  clock?: Clock;
  /** Of requests, watches apart. */
  maxConnections?: number;
  /** How long an answer may be in coming. */
  timeoutMs?: number;
  /** `Warning:` headers of the server (deprecations, unknown fields). */
  onWarning?: (text: string) => void;
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's prefix, with query. */
  path: string;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal;
}

const DEAD_CONNECTION_RETRIES = 2;
const RETRY_AFTER_RETRIES = 5;
const LONGEST_RETRY_AFTER = 30_000;

export class HttpClient {
  #pools: Promise<Pools> | undefined;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #options: HttpClientOptions;
  readonly #clock: Clock;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const url = new URL(options.connection.server);
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
  }

  /** The decoded JSON body. */
  async json<T>(request: HttpRequest): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const response = await this.#send('requests', request);
      const text = await this.#read(response, request);
      if (response.statusCode < 300) return parseBody(text) as T;
      const error = failure(response, text);
      const wait = Number(response.headers['retry-after'] ?? Number.NaN) * 1000;
      // Not 504: the server has waited already, and a resource version of the future may never come.
      const comeBack = wait <= LONGEST_RETRY_AFTER && (error.code === 429 || (error.code >= 500 && error.code !== 504));
      if (!comeBack || attempt >= RETRY_AFTER_RETRIES) throw error;
      await sleep(this.#clock, wait, request.signal);
    }
  }

  /** The lines of a streamed answer, parsed. Ends with the stream; throws on a line that is not JSON or not whole. */
  async *lines(path: string, signal?: AbortSignal): AsyncGenerator<unknown> {
    const request: HttpRequest = { method: 'GET', path, signal };
    const response = await this.#send('watches', request);
    if (response.statusCode !== 200) throw failure(response, await this.#read(response, request));
    const partial: Buffer[] = [];
    try {
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        let start = 0;
        for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
          partial.push(chunk.subarray(start, end));
          start = end + 1;
          const line = (partial.length === 1 ? (partial[0] as Buffer) : Buffer.concat(partial)).toString();
          partial.length = 0;
          if (line.trim()) yield parseLine(line);
        }
        if (start < chunk.length) partial.push(chunk.subarray(start));
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof WatchStreamError) throw error;
      throw new ConnectionError(`The watch of ${path} broke: ${(error as Error).message}`, { cause: error });
    }
    if (partial.length > 0) throw new WatchStreamError(`The watch of ${path} ended in the middle of an event`);
  }

  async close(): Promise<void> {
    const pools = await this.#pools;
    await Promise.all([pools?.requests.destroy(), pools?.watches.destroy()]);
  }

  /** undici is loaded for the first request: a process whose API server is its own never needs it. */
  async #open(): Promise<Pools> {
    const { connection, maxConnections = 64, timeoutMs = 60_000 } = this.#options;
    const undici = await import('undici');
    const pool = (options: Agent.Options) => makePool(undici, connection, { ...options, headersTimeout: timeoutMs });
    return {
      requests: pool({ connections: maxConnections, bodyTimeout: timeoutMs }),
      watches: pool({ bodyTimeout: 0 }),
    };
  }

  async #send(via: keyof Pools, request: HttpRequest): Promise<Dispatcher.ResponseData> {
    request.signal?.throwIfAborted();
    shareSignal(request.signal);
    this.#pools ??= this.#open();
    const pool = (await this.#pools)[via];
    const headers: Headers = {
      ...(await this.#options.connection.headers?.()),
      accept: 'application/json',
      'user-agent': this.#options.userAgent ?? 'rookery',
    };
    let body: string | undefined;
    if (request.body !== undefined) {
      body = JSON.stringify(request.body);
      headers['content-type'] = request.contentType ?? 'application/json';
    }
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await pool.request({
          origin: this.#origin,
          path: this.#prefix + request.path,
          method: request.method,
          headers,
          body,
          signal: request.signal,
        });
        this.#warn(response);
        return response;
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        if (request.method === 'GET' && attempt < DEAD_CONNECTION_RETRIES && wasDead(error)) continue;
        throw this.#broken(request, error);
      }
    }
  }

  async #read(response: Dispatcher.ResponseData, request: HttpRequest): Promise<string> {
    try {
      return await response.body.text();
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason;
      throw this.#broken(request, error);
    }
  }

  #broken(request: HttpRequest, error: unknown): ConnectionError {
    const text = `${request.method} ${this.#origin}${this.#prefix}${request.path}: ${(error as Error).message}`;
    return new ConnectionError(text, { cause: error });
  }

  #warn(response: Dispatcher.ResponseData): void {
    const { onWarning } = this.#options;
    const header = response.headers.warning;
    if (!onWarning || header === undefined) return;
    for (const line of [header].flat()) {
      for (const [, text = ''] of line.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g))
        onWarning(text.replace(/\\(.)/g, '$1'));
    }
  }
}

interface Pools {
  requests: Dispatcher;
  watches: Dispatcher;
}

function makePool(undici: typeof import('undici'), connection: Connection, options: Agent.Options): Dispatcher {
  const tls = {
    ca: connection.ca,
    cert: connection.cert,
    key: connection.key,
    servername: connection.serverName,
    rejectUnauthorized: !connection.insecure,
    ...(connection.lookup ? { lookup: connection.lookup } : {}),
  };
  // Servers that say nothing keep idle connections for minutes; those that say a time are believed.
  const common = { ...options, pipelining: 1, keepAliveTimeout: 60_000 };
  if (connection.proxyUrl) return new undici.ProxyAgent({ ...common, uri: connection.proxyUrl, requestTls: tls });
  return new undici.Agent({ ...common, connect: tls });
}

/** The connection was closed by the other side before any of the answer came. */
function wasDead(error: unknown): boolean {
  const code = (error as { code?: string }).code;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

function failure(response: Dispatcher.ResponseData, text: string): KubeError {
  const retryAfter = Number(response.headers['retry-after']);
  const status = statusOf(text) ?? {
    message: `the server answered ${response.statusCode}: ${text.trim().slice(0, 500) || 'no text'}`,
  };
  const details = { ...status.details };
  if (Number.isFinite(retryAfter)) details.retryAfterSeconds ??= retryAfter;
  return new KubeError({ ...status, details, code: response.statusCode });
}

function statusOf(text: string): KubeStatus | undefined {
  try {
    const parsed = JSON.parse(text);
    return parsed?.kind === 'Status' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConnectionError('The server sent an answer that is not JSON', { cause });
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new WatchStreamError(`A watch sent a line that is not JSON: ${line.slice(0, 80)}`, { cause });
  }
}

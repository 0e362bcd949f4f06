/**
 * Fetching a file that is known by its sha256. What has come so far is kept beside the place it goes to, so that a broken connection costs only the
 * rest; nothing is put in place before all of it is there and is what it should be. Proxies are those of the environment (HTTPS_PROXY, NO_PROXY).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EnvHttpProxyAgent, fetch, type Response } from 'undici';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { RookeryError } from '../errors.ts';

export interface Download {
  url: string;
  sha256: string;
}

export interface DownloadOptions {
  env?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  signal?: AbortSignal;
  /** How often it is tried; each time goes on where the last one broke off. */
  attempts?: number;
  onProgress?(received: number, total: number | undefined): void;
}

const ATTEMPTS = 4;
const PAUSE_MS = 500;
const EXECUTABLE = 0o755;

/** The file at `path`, executable and whole. */
export async function download(wanted: Download, path: string, options: DownloadOptions = {}): Promise<void> {
  const { env = process.env, clock = systemClock, signal, attempts = ATTEMPTS } = options;
  if (env.ROOKERY_OFFLINE === '1') throw offline(wanted.url);
  const part = `${path}.part`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const proxy = new EnvHttpProxyAgent({
    httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? '',
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
  });
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await receive(wanted.url, part, proxy, options);
        break;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof RookeryError || attempt >= attempts) throw failed(wanted.url, error);
        await sleep(clock, PAUSE_MS * attempt, signal);
      }
    }
  } finally {
    await proxy.close();
  }
  await check(part, wanted);
  await chmod(part, EXECUTABLE);
  await rename(part, path);
}

async function receive(
  url: string,
  part: string,
  dispatcher: EnvHttpProxyAgent,
  { signal, onProgress }: DownloadOptions,
): Promise<void> {
  const here = await sizeOf(part);
  const headers = here > 0 ? { range: `bytes=${here}-` } : undefined;
  const response = await fetch(url, { dispatcher, headers, signal, redirect: 'follow' });
  // All of it is here already, or what is here is no beginning of it: the checksum tells.
  if (response.status === 416) return;
  if (!response.ok || !response.body) throw refused(url, response);
  const isRest = response.status === 206;
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  const total = Number.isNaN(length) ? undefined : length + (isRest ? here : 0);
  const file = await open(part, isRest ? 'a' : 'w', 0o600);
  let received = isRest ? here : 0;
  try {
    for await (const chunk of response.body) {
      await file.write(chunk);
      received += chunk.byteLength;
      onProgress?.(received, total);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (total !== undefined && received < total)
    throw new Error(`the connection ended after ${received} of ${total} bytes`);
}

/** A file that is not what it should be is not kept: the next try begins anew. */
async function check(part: string, { url, sha256 }: Download): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(part)) hash.update(chunk as Buffer);
  const found = hash.digest('hex');
  if (found === sha256) return;
  await rm(part, { force: true });
  throw new RookeryError('download.checksum', `${url} is not what it should be: sha256 ${found}, expected ${sha256}`, {
    hint: 'it was thrown away. Try again; if it stays so, somebody on the way (a proxy?) changes it',
  });
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

function refused(url: string, { status, statusText }: Response): Error {
  const message = `${url}: ${status} ${statusText}`.trim();
  // What the server may change its mind about is tried again.
  if (status === 429 || status >= 500) return new Error(message);
  return new RookeryError('download.refused', message, {
    hint: 'get the program yourself and put it into ROOKERY_TOOLS',
  });
}

function failed(url: string, error: unknown): RookeryError {
  if (error instanceof RookeryError) return error;
  const { message, cause } = error as Error & { cause?: Error };
  const why = cause?.message ? `${message}: ${cause.message}` : message;
  return new RookeryError('download.failed', `${url} could not be fetched: ${why}`, {
    class: 'retryable',
    hint: 'check the network, or HTTPS_PROXY; without one, put the program into ROOKERY_TOOLS. The next try goes on where this one ended',
    cause: error,
  });
}

function offline(url: string): RookeryError {
  return new RookeryError('download.offline', `nothing may be fetched (ROOKERY_OFFLINE), not even ${url}`, {
    class: 'user',
    hint: 'put the program into ROOKERY_TOOLS, or take ROOKERY_OFFLINE away',
  });
}

/**
 * Calls webhooks: one JSON document there, one back, over HTTPS. Connections are kept for the next call; each call has its
 * own time and its own connection while it lasts, so one that hangs is in nobody's way.
 */
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP } from 'node:net';
import type { Clock } from '../../clock.ts';
import { hostGuard, refusedAddress } from '../../network/host-guard.ts';
import type { Store } from '../store/store.ts';
import { yieldTurn } from '../turns.ts';
import { isCaBundle, pemOf } from './ca-bundle.ts';
import { CallError, goError, refusedText, SetupError } from './call-error.ts';
import { type ClientConfig, serviceHost, shownUrl, type Target } from './client-config.ts';
import { resolveService } from './service-endpoint.ts';

/** An object of the largest size, once as base64 of a patch and some more; beyond that it is no answer to us. */
const ANSWER_LIMIT = 6 * 1024 * 1024;
/** For each address and certificate a webhook ever had. */
const IDLE_CONNECTIONS = 8;
const IDLE_MS = 90_000;

export interface WebhookClientOptions {
  store: Pick<Store, 'get' | 'list'>;
  clock: Clock;
  /** Nothing on the server's own machine is called. */
  guardsHost?: boolean;
}

export class WebhookClient {
  readonly #options: WebhookClientOptions;
  #agent: Agent | undefined;
  /** A configuration is used very often, and its certificates are kept as long as it is. */
  readonly #bundles = new WeakMap<ClientConfig, string>();

  constructor(options: WebhookClientOptions) {
    this.#options = options;
  }

  /** The parsed answer. Rejects with CallError. */
  async call(config: ClientConfig, body: string, timeoutMs: number): Promise<unknown> {
    const ca = this.#certificates(config);
    const shown = shownUrl(config, timeoutMs);
    const bytes = Buffer.from(body);
    await yieldTurn(bytes.length);
    const deadline = this.#options.clock.now() + timeoutMs;
    for (;;) {
      try {
        return await this.#post(this.#target(config, shown), ca, bytes, deadline);
      } catch (error) {
        // The server closed a kept connection just as it was used again: nobody has seen the request.
        if (error === CLOSED) continue;
        throw error instanceof CallError ? error : new CallError((error as Error).message);
      }
    }
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #certificates(config: ClientConfig): string | undefined {
    if (!config.caBundle) return undefined;
    let pem = this.#bundles.get(config);
    if (pem === undefined) {
      pem = readBundle(config.caBundle);
      if (pem !== undefined) this.#bundles.set(config, pem);
    }
    return pem;
  }

  /** Services are looked up for each call: endpoints come and go. */
  #target(config: ClientConfig, shown: string): Target {
    const { host: authority, hostname, port, pathname, search } = new URL(shown);
    const path = pathname + search;
    const { service } = config;
    if (!service) {
      const host = hostname.replace(/^\[|\]$/g, '');
      return {
        host,
        port: Number(port || 443),
        path,
        authority,
        shown,
        ...(isIP(host) ? {} : { serverName: hostname }),
      };
    }
    try {
      const found = resolveService(this.#options.store, { ...service, port: service.port ?? 443 });
      return { ...found, serverName: serviceHost(service), path, authority, shown };
    } catch (error) {
      if (error instanceof CallError) throw new CallError(`Post ${JSON.stringify(shown)}: ${error.message}`);
      throw error;
    }
  }

  #post(target: Target, ca: string | undefined, body: Buffer, deadline: number): Promise<unknown> {
    const { clock, guardsHost = false } = this.#options;
    this.#agent ??= new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS, timeout: IDLE_MS });
    const agent = this.#agent;
    const failed = (why: string) => new CallError(`Post ${JSON.stringify(target.shown)}: ${why}`);
    if (guardsHost && hostGuard.refuses(target.host))
      return Promise.reject(failed(refusedAddress(dialled(target)).message));
    return new Promise((resolve, reject) => {
      const sent = request({
        agent,
        ...(guardsHost ? { lookup: hostGuard.lookup } : {}),
        method: 'POST',
        host: target.host,
        port: target.port,
        path: target.path,
        servername: target.serverName ?? '',
        ca,
        headers: {
          host: target.authority,
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
          'content-length': body.length,
        },
      });
      let late = false;
      const cancel = clock.after(Math.max(0, deadline - clock.now()), () => {
        late = true;
        sent.destroy(failed(LATE));
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        cancel();
        if (error instanceof CallError) reject(error);
        else if (sent.reusedSocket && error.code === 'ECONNRESET' && !late) reject(CLOSED);
        else reject(failed(goError(error, dialled(target))));
      });
      sent.on('response', (answer) => {
        read(answer)
          .then((text) => decode(answer, text))
          .then(resolve, (error) => reject(error instanceof CallError ? error : failed(late ? LATE : 'unexpected EOF')))
          .finally(cancel);
      });
      sent.end(body);
    });
  }
}

const CLOSED = Symbol('the kept connection was closed');
const LATE = 'context deadline exceeded';

function dialled({ host, port }: Target): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Undefined for one that says nothing. Throws SetupError for what is no certificate. */
function readBundle(bundle: string): string | undefined {
  const pem = pemOf(bundle);
  if (pem.trim() === '') return undefined;
  if (isCaBundle(bundle)) return pem;
  throw new SetupError('unable to load root certificates: unable to parse bytes as PEM block');
}

function read(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    answer.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size > ANSWER_LIMIT) answer.destroy(new CallError(`the answer is larger than ${ANSWER_LIMIT} bytes`));
      else pieces.push(piece);
    });
    answer.on('end', () => resolve(Buffer.concat(pieces).toString()));
    answer.on('error', reject);
    answer.on('close', () => reject(new CallError('unexpected EOF')));
  });
}

async function decode(answer: IncomingMessage, text: string): Promise<unknown> {
  const code = answer.statusCode ?? 0;
  const contentType = answer.headers['content-type'];
  if (code < 200 || code > 206) throw new CallError(refusedText(code, contentType, text));
  if (text === '') {
    throw new CallError(`0-length response with status code: ${code} and content type: ${contentType ?? ''}`);
  }
  await yieldTurn(text.length);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw new TypeError(`cannot unmarshal ${typeof value} into Go value`);
  } catch (error) {
    throw new CallError(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
}

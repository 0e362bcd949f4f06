/** Plain HTTPS for tests that look at the wire: nothing is retried, nothing is thrown for a status. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
  /** The parsed body; throws where it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly json: any;
}

export interface Ask {
  headers?: Record<string, string | string[]>;
  /** Objects are sent as JSON. */
  body?: unknown;
  contentType?: string;
  /** Sent instead of the client's; null: none. */
  token?: string | null;
  cert?: string;
  key?: string;
}

export interface WatchEvent {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  object: any;
}

export interface Watching extends AsyncIterable<WatchEvent> {
  answer: IncomingMessage;
  /** The next event; rejects when the stream ends first. */
  next(): Promise<WatchEvent>;
  close(): void;
}

export class Http {
  readonly url: string;
  readonly #ca: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(url: string, ca: string, token: string) {
    this.url = url;
    this.#ca = ca;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64 });
  }

  get = (path: string, ask: Ask = {}) => this.send('GET', path, ask);
  post = (path: string, body: unknown, ask: Ask = {}) => this.send('POST', path, { ...ask, body });
  put = (path: string, body: unknown, ask: Ask = {}) => this.send('PUT', path, { ...ask, body });
  delete = (path: string, ask: Ask = {}) => this.send('DELETE', path, ask);
  patch = (path: string, type: 'json' | 'merge' | 'strategic' | 'apply', body: unknown, ask: Ask = {}) =>
    this.send('PATCH', path, { contentType: PATCH_TYPES[type], ...ask, body });

  async send(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.open(method, path, ask);
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      body,
      text: body.toString(),
      get json() {
        return JSON.parse(body.toString());
      },
    };
  }

  /** The answer as soon as its headers are there. */
  open(method: string, path: string, ask: Ask = {}): Promise<IncomingMessage> {
    const { hostname, port, pathname } = new URL(this.url);
    const body = ask.body === undefined ? undefined : bytesOf(ask.body);
    const token = ask.token === undefined ? this.#token : ask.token;
    const options: RequestOptions = {
      method,
      hostname,
      port,
      // As it is: path tricks must reach the server.
      path: pathname.replace(/\/$/, '') + path,
      ca: this.#ca,
      cert: ask.cert,
      key: ask.key,
      agent: ask.cert ? false : this.#agent,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body ? { 'content-type': ask.contentType ?? 'application/json', 'content-length': body.length } : {}),
        ...ask.headers,
      },
    };
    return new Promise((resolve, reject) => {
      const sent = request(options, resolve).on('error', reject);
      sent.end(body);
    });
  }

  /** One watch. Events are read as they come, none is lost between two `next()`; half a line is no event. */
  async watch(path: string, ask: Ask = {}): Promise<Watching> {
    const answer = await this.open('GET', path, ask);
    const events = eventsOf(answer);
    return {
      answer,
      [Symbol.asyncIterator]: () => events,
      async next() {
        const { value, done } = await events.next();
        if (done) throw new Error('the watch has ended');
        return value;
      },
      close: () => void answer.destroy(),
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

async function* eventsOf(answer: IncomingMessage): AsyncGenerator<WatchEvent, void> {
  let rest = '';
  try {
    for await (const piece of answer.setEncoding('utf8')) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as WatchEvent;
    }
  } catch (error) {
    // However the connection ended, the watch has.
    if (error instanceof SyntaxError) throw error;
  }
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
